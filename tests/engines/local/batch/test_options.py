"""The command line of srun, as getopt reads it."""

import pytest

from engines.local.batch.options import OptionError, parse_command_line


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("-n4 hostname", {"ntasks": "4"}),
        ("-n 4 hostname", {"ntasks": "4"}),
        ("--ntasks=4 hostname", {"ntasks": "4"}),
        ("--ntasks 4 hostname", {"ntasks": "4"}),
        ("--tasks=4 hostname", {"ntasks-per-node": "4"}),  # abbreviates --tasks-per-node
        ("--out=x hostname", {"output": "x"}),
        ("-lK hostname", {"label": "", "kill-on-bad-exit": ""}),
        ("-lK0 hostname", {"label": "", "kill-on-bad-exit": "0"}),
        ("-K hostname", {"kill-on-bad-exit": ""}),
        ("--exclusive -N1 hostname", {"exclusive": "", "nodes": "1"}),
        ("--bcast --overlap hostname", {"bcast": "", "overlap": ""}),
        ("-- hostname", {}),
    ],
)
def test_options_end_at_the_program(words: str, options: dict[str, str]) -> None:
    line = parse_command_line([*words.split(), "-n", "9"])
    assert line.options == options
    assert line.command == ["hostname", "-n", "9"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--nosuch", "unrecognized option '--nosuch'"),
        ("-y", "invalid option -- 'y'"),
        ("--ntasks", "--ntasks needs a value"),
        ("-n", "-n needs a value"),
        ("--label=1", "--label takes no value"),
        ("--ntasks-per=1", "--ntasks-per may be --ntasks-per-core, "),
    ],
)
def test_a_wrong_option_is_named(words: str, problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        parse_command_line(words.split())
