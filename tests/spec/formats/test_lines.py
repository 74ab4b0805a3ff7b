"""YAML keeps its lines; what would be lost or mean something else is refused at its line."""

import time

import pytest

from spec.formats.lines import DEEPEST, LONGEST, LineProblem, YamlError, parse_yaml
from spec.imports.manifest.jobs import import_manifest
from spec.imports.placeholders import has_placeholder


def test_every_key_and_item_has_its_line() -> None:
    lined = parse_yaml("name: a\nspec:\n  labels:\n  - name: x\n    value: y\n  - name: z\n")
    assert lined.values == {
        "name": "a",
        "spec": {"labels": [{"name": "x", "value": "y"}, {"name": "z"}]},
    }
    assert lined.line_of(("name",)) == 1
    assert lined.line_of(("spec", "labels", 0, "value")) == 5
    assert lined.line_of(("spec", "labels", 1)) == 6
    assert lined.line_of(("spec", "labels", 1, "missing", "deeper")) == 6, "the nearest"


def test_dates_and_words_with_a_colon_stay_text() -> None:
    lined = parse_yaml("a: 2026-01-01\nb: <<\nc: =\nd: 1e3\n'<<': 5\n")
    assert lined.values == {"a": "2026-01-01", "b": "<<", "c": "=", "d": "1e3", "<<": 5}


@pytest.mark.parametrize(
    "text",
    ["a: 1\n---\n", "---\na: 1\n", "---\n# first\n---\na: 1\n...\n---\n# last\n", "\n\na: 1\n---"],
)
def test_documents_without_anything_in_them_are_left_out(text: str) -> None:
    assert parse_yaml(text).values == {"a": 1}


def test_anchors_repeat_values_and_merges_add_them() -> None:
    text = "a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\ne:\n  <<: [*x, {b: 9, z: 1}]\nf: *x\n"
    lined = parse_yaml(text)
    assert lined.values["d"] == {"b": 1, "c": 3}
    assert lined.values["e"] == {"b": 1, "c": 2, "z": 1}
    assert lined.values["f"] == {"b": 1, "c": 2}
    assert lined.line_of(("d", "c")) == 3
    assert lined.line_of(("d", "b")) == 1


NESTED = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\na: 2\n", 2, "a is given twice, first in line 1"),
        ("spec:\n  labels: [x\n", 3, "not valid YAML"),
        ("a: b: c", 1, "not valid YAML"),
        (f"a: &a [{'x, ' * 9}]\n{NESTED}", 1, "Anchors repeat more than"),
        ("a: &x [*x]\n", 1, "Anchors make this deeper"),
        ("a: &x\n  <<: *x\n", 1, "Anchors make this deeper"),
        ("a: *x\n", 1, "undefined alias"),
        ("a:\n  <<: 5\n", 2, "<< takes a mapping"),
        ("a: 1\nname: {{ name }}\n", 2, "This is a template: {{ name }} has to be filled in"),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", 1, "This is a template"),
        ("a: 1\n{% for x in y %}\nb: {{ x }}\n", 2, "This is a template"),
        ("# OSMO\nworkflow:\n  name: {{ name }}\n", 2, "This is an OSMO workflow"),
        ('{"workflow": {"name": "a"}}', 1, "This is an OSMO workflow"),
        ("a: 1\nb: !!binary aGk=\n", 2, "Tags are not supported"),
        ("a: 1\n---\nb: 2\n", 3, "A second document"),
        ("a: 1\n7: x\n", 2, "A key must be text"),
        ("on: x\n", 1, "A key must be text"),
        ("a: .nan\n", 1, ".nan is not a number"),
        ("a: 1\nb: " + "9" * 5000, 2, "is not a number"),
        ('a: "\\0"', 1, "cannot be stored"),
        ('a: "\\ud800"', 1, "cannot be stored"),
        ("a: 1\nb: \a", 2, "does not allow"),
        ("- a", 1, "key: value"),
        ("x: " + "[" * (DEEPEST + 1), 1, "nested deeper"),
        ("", 0, "nothing here"),
        ("# only a comment", 0, "nothing here"),
        ("a" * (LONGEST + 1), 0, "longer than"),
    ],
)
def test_text_that_cannot_be_used_is_refused_at_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as refused:
        parse_yaml(text)
    assert refused.value.problems[0].line == line
    assert words in refused.value.problems[0].message


def test_every_wrong_line_is_named_at_once() -> None:
    with pytest.raises(YamlError) as refused:
        parse_yaml("a: .inf\nb: 1\nb: 2\n3: x\n")
    assert [problem.line for problem in refused.value.problems] == [1, 3, 4]


def test_a_question_keeps_its_mark() -> None:
    assert LineProblem(1, "did you mean that?").sentence == "did you mean that?"
    assert LineProblem(1, "is wrong").sentence == "is wrong."


def test_many_beginnings_of_placeholders_take_no_longer() -> None:
    text = "- {{" * (LONGEST // 4)
    started = time.monotonic()
    with pytest.raises(YamlError):
        parse_yaml(text)
    assert not import_manifest({"kind": text}).spec
    assert not has_placeholder(text)
    assert time.monotonic() - started < 5
