"""What the corpus calls produced was printed by the programs that stand beside it."""

import re

import pytest

from tests.workloads.diagnosis.programs.program import Program, programs
from tests.workloads.diagnosis.tails import Tail, tails

PROGRAMS = {program.title: program for program in programs()}
PRODUCED = [tail for tail in tails() if tail.is_produced]
# A frame of a traceback in a file of the program's own, and the line that it shows.
FRAME = re.compile(r'File "/workspace/([^"]+)", line (\d+), in .*\n[\s|]+(\S.*)')


def test_every_produced_tail_has_the_program_that_printed_it() -> None:
    titles = [tail.name for tail in PRODUCED]
    assert len(set(titles)) == len(titles)
    assert set(titles) == set(PROGRAMS)


@pytest.mark.parametrize("tail", PRODUCED, ids=lambda tail: tail.name)
def test_a_traceback_shows_lines_of_its_program(tail: Tail) -> None:
    program = PROGRAMS[tail.name]
    for name, number, shown in FRAME.findall("\n".join(tail.lines)):
        assert shown.strip() in line_of(program, name, int(number)).strip()


def line_of(program: Program, name: str, number: int) -> str:
    return program.files[name].splitlines()[number - 1]
