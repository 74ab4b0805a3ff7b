"""What the corpus calls produced was printed by the programs that stand beside it."""

import re

from tests.workloads.diagnosis.programs.program import Program, programs
from tests.workloads.diagnosis.tails import tails

PROGRAMS = {program.title: program for program in programs()}
PRODUCED = [tail for tail in tails() if tail.is_produced]
# A frame of a traceback in a file of the program's own, and the line that it shows. The next line
# may be another rank's.
FRAME = re.compile(r'File "/workspace/([^"]+)", line (\d+), in .*\n[\s|]+(?!File ")(\S.*)')


def test_every_produced_tail_has_the_program_that_printed_it() -> None:
    titles = [tail.name for tail in PRODUCED]
    assert len(set(titles)) == len(titles)
    assert set(titles) == set(PROGRAMS)


def test_tracebacks_show_lines_of_their_programs() -> None:
    frames = [(tail, *frame) for tail in PRODUCED for frame in FRAME.findall("\n".join(tail.lines))]
    assert len(frames) > len(PRODUCED) / 2
    assert not [
        f"{tail.name}: {shown}"
        for tail, name, number, shown in frames
        if not is_of(shown.strip(), line_of(PROGRAMS[tail.name], name, int(number)).strip())
    ]


def is_of(shown: str, line: str) -> bool:
    """Whether a shown line is one of the program, of which a message may go on after it."""
    return shown in line or (bool(line) and shown.startswith(line))


def line_of(program: Program, name: str, number: int) -> str:
    return program.files[name].splitlines()[number - 1]
