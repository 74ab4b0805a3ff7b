"""Whatever a file contains, its import succeeds or names lines."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.formats.lines import LineProblem, YamlError
from tests.workflows.imports.files import PIPELINE, PROGRAM, SEED
from workflows.imports.mapping import map_workflow
from workflows.imports.reading import read_workflow

#: Without templates, whose rendering takes a process for each example.
PLAIN = PIPELINE.replace("{{host:Eval_2}}", "{{output}}")
KEYS = st.sampled_from(
    "name image command args groups tasks inputs outputs files path task url dataset regex "
    "resources default cpu gpu memory timeout exec_timeout environment credentials lead "
    "exitActions FAIL checkpoint volumeMounts topology key labels unknown".split()
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "/a", "..", "{{output}}", "{{host:a}}", "1-3", "10h", "8Gi", "a:b"])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def import_or_refuse(text: str) -> None:
    problems: tuple[LineProblem, ...] = (LineProblem(0, "imported"),)
    try:
        map_workflow(read_workflow(text), files={PROGRAM: ""})
    except YamlError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert 0 <= problem.line <= text.count("\n") + 1
        assert problem.message


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_values_are_imported_or_refused(workflow: dict[str, object]) -> None:
    flow = json.dumps(workflow).replace("{{", "{ {").replace("{%", "{ %").replace("{#", "{ #")
    import_or_refuse(f"workflow:\n  {flow}\n")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_with_lines_changed_is_imported_or_refused(data: st.DataObject) -> None:
    lines = PLAIN.split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["drop", "double", "indent", "outdent", "cut", "swap"]))
        line = lines[number]
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[number : number + 1] = {
            "drop": [],
            "double": [line, line],
            "indent": [f"  {line}"],
            "outdent": [line[2:]],
            "cut": [line[: len(line) // 2]],
            "swap": [lines[other]],
        }[change]
        lines = lines or [""]
    import_or_refuse("\n".join(lines))


@pytest.mark.extended
@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(SEED) - 1), st.sampled_from("{}%#'\":\n\t-é\x07"))
def test_a_template_with_a_character_changed_is_imported_or_refused(
    at: int, character: str
) -> None:
    import_or_refuse(SEED[:at] + character + SEED[at + 1 :])
