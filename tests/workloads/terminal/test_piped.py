"""Programs with pipes beside a rank: whatever bytes go in and out, and their end."""

import shutil
from collections.abc import Sequence

import pytest

from engines.slurm.client.terminal import open_session
from tests.workloads.terminal.pipes import exchange
from workloads.terminal import piped

EVERY_BYTE = bytes(range(256)) * 100


def run(argv: Sequence[str], data: bytes = b"", *, ends: bool = True) -> tuple[bytes, int | None]:
    return exchange(open_session(piped.piped_command(argv)), data, ends=ends)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 3000, 3001, 25_600])
def test_every_byte_of_a_pipe_arrives_and_comes_back(size: int) -> None:
    assert run(["cat"], EVERY_BYTE[:size]) == (EVERY_BYTE[:size], 0)


def test_a_piped_program_has_no_terminal_and_its_exit_code_is_told() -> None:
    assert run(["sh", "-c", "[ -t 0 ] || [ -t 1 ] || echo none; exit 7"]) == (b"none\n", 7)


def test_a_shell_runs_what_is_piped_into_it() -> None:
    assert run(piped.SHELL, b"echo $((40 + 2)); exit 5") == (b"42\n", 5)


def test_a_piped_program_may_end_before_its_input_does() -> None:
    assert run(["head", "-c", "3"], b"abcdef" * 10_000, ends=False) == (b"abc", 0)
    assert run(["true"], ends=False) == (b"", 0)


def test_a_piped_program_that_is_not_there_is_named() -> None:
    said, code = run(["no-such-program"])
    assert b"no-such-program" in said
    assert code == 127
    assert shutil.which("base64")
