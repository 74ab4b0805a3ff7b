import pytest

from spec.formats.lines import YamlError
from workflows.imports.sections import split_sections


def test_each_section_keeps_the_lines_of_the_file() -> None:
    sections = split_sections("version: 2\nworkflow:\n  name: a\ndefault-values:\n  n: 1\n")
    assert sections.workflow == "\nworkflow:\n  name: a\n"
    assert sections.defaults == "\n\n\ndefault-values:\n  n: 1\n"


def test_windows_line_ends_and_a_byte_order_mark_are_read() -> None:
    assert split_sections("\ufeffworkflow:\r\n  name: a\r\n").workflow == "workflow:\n  name: a\n"


def test_the_first_line_outside_of_sections_is_told() -> None:
    assert split_sections("# a comment\n\n{% set n = 1 %}\nworkflow:\n").dropped == 3
    assert split_sections("---\n# a comment\nworkflow:\n").dropped == 0


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("workflow:\n  name: a\ntasks:\n", 3, "tasks is not a top-level key"),
        ("workflow:\nversion: 2\nworkflow:\n", 3, "given twice, first in line 1"),
        ("version: 2\n", 0, "There is no workflow"),
        ("", 0, "There is no workflow"),
        ("workflow:\n  name: \ue001\n", 2, "cannot be used here"),
        ("workflow:\n" + "# far too long\n" * 70_000, 0, "longer than"),
    ],
    ids=["unknown", "twice", "none", "empty", "mark", "1 MB"],
)
def test_a_wrong_key_is_told_at_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        split_sections(text)
    (problem,) = caught.value.problems
    assert problem.line == line
    assert words in problem.message
