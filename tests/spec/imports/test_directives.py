"""Lines and words of a header as sbatch reads them, and what is handed on to it."""

import pytest

from spec.imports.directives import directive_lines, late_directives, read_header, split_lines
from spec.imports.options import SBATCH, SRUN, Ambiguous


def header(*lines: str) -> str:
    return "\n".join(["#!/bin/bash", *lines, "true", ""])


def options(*lines: str) -> dict[str, str]:
    return {option.name: option.value for option in read_header(header(*lines)).directives}


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (["#SBATCH-n2"], {"ntasks": "2"}),
        (["#SBATCH\t-n\t2"], {"ntasks": "2"}),
        (["#SBATCH --nodes", "#SBATCH 2"], {"nodes": "2"}),
        (["#SBATCH -J -N", "#SBATCH -n2"], {"job-name": "-N", "ntasks": "2"}),
        (["#SBATCH --comment=a#b -n2"], {"comment": "a"}),
        (["#SBATCH --comment='a \"b' -n2"], {"comment": 'a "b', "ntasks": "2"}),
        (["#SBATCH -HQn2"], {"hold": "", "quiet": "", "ntasks": "2"}),
        (["#SBATCH -n=2"], {"ntasks": "=2"}),
        (["#SBATCH --out=a --err b"], {"output": "a", "error": "b"}),
        (["#SBATCH --tasks 2"], {"ntasks-per-node": "2"}),
        (["#SBATCH -n 2 \\", "#SBATCH -c 3"], {"ntasks": "2", "cpus-per-task": "3"}),
        (
            ["  # indented", "#SBATCH -n 2", "\f", "#SBATCH -c 3"],
            {"ntasks": "2", "cpus-per-task": "3"},
        ),
        (["# one\u2028two\u0085three", "#SBATCH -n 2"], {"ntasks": "2"}),
        (["##SBATCH -n 9", "# SBATCH -n 9", "  #SBATCH -n 9"], {}),
        (["\u00a0#SBATCH", "#SBATCH -n 2"], {}),
    ],
)
def test_words_are_those_of_sbatch(lines: list[str], read: dict[str, str]) -> None:
    assert options(*lines) == read


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("#SBATCH -n 2 word", "refuses 'word'"),
        ("#SBATCH --exclusive user", "refuses 'user'"),
        ("#SBATCH -n", "-n needs a value"),
        ("#SBATCH --hold=1", "--hold takes no value"),
        ("#SBATCH --nt=2", "--nt may be --ntasks, --ntasks-per-core"),
        ("#SBATCH -n2 'open", "no end of the quote '"),
        ("#SBATCH -n 2 : -c 1", "refuses the colon"),
    ],
)
def test_what_sbatch_refuses_blocks_at_its_line(line: str, says: str) -> None:
    (note,) = read_header(header("", line)).notes
    assert (note.line, note.blocks) == (3, True)
    assert says in note.text


@pytest.mark.parametrize("line", ["#SBATCH --container-image=a", "#SBATCH --container-image a -n1"])
def test_an_option_of_a_plugin_does_not_block(line: str) -> None:
    (note,) = read_header(header(line)).notes
    assert (note.line, note.blocks) == (2, False)
    assert "no option --container-image" in note.text


@pytest.mark.parametrize("line", ["  #SBATCH -n 2", "#sbatch -n 2", "#Sbatch --nodes=2"])
def test_a_line_that_only_looks_like_options_is_named(line: str) -> None:
    (note,) = read_header(header(line)).notes
    assert (note.line, note.blocks) == (2, False)
    assert "has to begin the line" in note.text


@pytest.mark.parametrize("line", ["#SBATCH hetjob", "#SBATCH  \thetjob # x", "#SBATCHpackjob"])
def test_parts_of_a_job_begin_at_their_line(line: str) -> None:
    read = read_header(header("#SBATCH -n 1", line, "#SBATCH -n 2 word"))
    assert read.separators == [3]
    assert [(option.line, option.value) for option in read.directives] == [(2, "1")]
    assert [note.line for note in read.notes] == [4]


def test_options_after_the_first_command_have_its_line() -> None:
    text = "#!/bin/bash\nset -e\n#SBATCH -n 2\n  #SBATCH -n 3\n"
    assert list(late_directives(text)) == [(3, 2)]


def test_all_lines_before_the_first_command_are_handed_on() -> None:
    lines = ["# a comment", "#SBATCH -n 2 # two", "#PBS -l walltime=1", "  # more"]
    assert list(directive_lines(header("", *lines, "\f"))) == lines


def test_options_that_hold_up_submissions_are_left_out() -> None:
    lines = ["# kept", "#SBATCH -WHn 2", "#SBATCH --test-only --comment='say \"hi\" #1'"]
    lines += ["#SBATCH --parsable", "#SBATCH -Q --exclusive --nice=5 --comment="]
    text = header(*lines)
    left = "\n".join(directive_lines(text))
    assert left.split("\n") == [
        *("# kept", "#SBATCH --hold", '#SBATCH --ntasks="2"'),
        *('#SBATCH --comment="say \\"hi\\" #1"', "#SBATCH --exclusive", '#SBATCH --nice="5"'),
        '#SBATCH --comment=""',
    ]
    kept = {it.name: it.value for it in read_header(header(left)).directives}
    assert kept == {"hold": "", "ntasks": "2", "exclusive": "", "nice": "5", "comment": ""}
    assert [note.line for note in read_header(text).notes] == [3, 4, 5, 6]


def test_lines_end_at_line_feeds_alone() -> None:
    assert split_lines("a\fb\u2028c\rd\n\ne") == ["a\fb\u2028c\rd", "", "e"]


def test_tables_are_without_contradictions() -> None:
    for table in (SBATCH, SRUN):
        groups = (table.with_value, table.with_optional_value, table.without_value)
        assert sum(map(len, groups)) == len(frozenset().union(*groups))
        assert {*table.letters.values(), *table.aliases.values()} <= table.names
    assert SBATCH.find("res") == "reservation"
    assert isinstance(SBATCH.find("mem-p"), Ambiguous)
