import pytest

from spec.formats.lines import YamlError
from workflows.imports.sections import split_sections
from workflows.imports.templates import RenderedText, parse_settings, render_sections

LOOP = """\
workflow:
  name: {{ name }}
  tasks:
  {% for item in range(2) %}
  - name: task-{{ item }}
    args: ["{{input:0}}", "{{workflow_id}}"]
  {% endfor %}
  timeout: {}

default-values:
  name: many
"""


def render(text: str, **settings: object) -> RenderedText:
    return render_sections(split_sections(text), settings)


def test_a_template_is_rendered_and_tokens_stay() -> None:
    lines = [line for line in render(LOOP).text.split("\n") if line.strip()]
    assert lines == [
        "workflow:",
        "  name: many",
        "  tasks:",
        "  - name: task-0",
        '    args: ["{{input:0}}", "{{workflow_id}}"]',
        "  - name: task-1",
        '    args: ["{{input:0}}", "{{workflow_id}}"]',
        "  timeout: {}",
    ]


def test_each_rendered_line_knows_its_line_in_the_file() -> None:
    rendered = render(LOOP)
    file_lines = LOOP.split("\n")
    for number, line in enumerate(rendered.text.split("\n"), 1):
        if line.strip():
            first_word = line.split()[0]
            assert first_word in file_lines[rendered.origin_of(number) - 1]
    task_lines = [n for n, line in enumerate(rendered.text.split("\n"), 1) if "- name" in line]
    assert [rendered.origin_of(line) for line in task_lines] == [5, 5]


def test_settings_win_over_default_values() -> None:
    assert "name: mine" in render(LOOP, name="mine").text


def test_settings_are_parsed_as_osmo_parses_them() -> None:
    pairs = ["a=007", "b=1e3", "c=true", "d=x=y", "e=nan", "f=3"]
    assert parse_settings(pairs, ["f=4"]) == {
        "a": 7,
        "b": 1000.0,
        "c": "true",
        "d": "x=y",
        "e": "nan",
        "f": "4",
    }
    for wrong in ("a", "=1", "1a=2", "a-b=1"):
        with pytest.raises(ValueError, match="is not NAME=VALUE"):
            parse_settings([wrong])


def test_a_file_without_templates_stays_as_it_is() -> None:
    text = "workflow:\n  name: a\n  args: ['{{output}}/x']\n"
    assert render(text) == RenderedText(text, (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{{ missing }}", "'missing' is undefined; give a value"),
        ("{{ host:x }}", "not a valid template"),
        ("${#array[@]}", "{# begins a comment"),
        ("{% for n in 3 %}{% endfor %}", "cannot be rendered"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ 1 / 0 }}", "cannot be rendered"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_a_mistake_in_a_template_is_told_at_its_line(line: str, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        render(f"version: 2\nworkflow:\n  name: a\n  x: {line}\n")
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.line == 4


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "too long",
        ),
        ("{{ 7 ** 99999999 }}", "too long"),
        ("{% for a in range(99999) %}a long line of text\n{% endfor %}", "renders to more than"),
        ("{{ ('a' * 999999999) | length }}", "memory"),
        ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "recursion"),
    ],
    ids=["loop", "number", "bomb", "memory", "recursion"],
)
def test_a_template_cannot_take_all_time_or_memory(template: str, words: str) -> None:
    with pytest.raises(YamlError, match=words):
        render(f"workflow:\n  name: {template}\n")


def test_default_values_must_be_a_mapping() -> None:
    with pytest.raises(YamlError, match="line 3: default-values must be a mapping"):
        render("workflow:\n  name: a\ndefault-values: 3\n")
    assert render("workflow:\n  name: a\ndefault-values:\n").text == "workflow:\n  name: a\n"
