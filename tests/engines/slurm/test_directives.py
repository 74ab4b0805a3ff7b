"""Options are read as the real sbatch reads them: in generated scripts, word by word."""

import io
import random
import re
import tarfile
from collections.abc import Iterator

import pytest

from spec.imports.directives import FOREIGN, MAGIC, read_header
from spec.imports.options import SBATCH
from tests.engines.slurm.rig import SlurmRig

COUNT = 300
#: $1 a folder that does not exist yet, in which the archive on standard input is unpacked.
ASK = """
mkdir "$1" && cd "$1" && tar -x || exit 1
for script in *.sh; do
  echo "==> $script"
  sbatch -vv --test-only "$script" 2>&1 | sed -n 's/^sbatch: //; /propagating/!p'
done
cd / && rm -rf "$1"
"""
#: Options with values that sbatch prints as they were given.
VALUES = {
    "job-name": ["train", "a b", "x-1", "it's", "a#b", 'say "hi"'],
    "comment": ["one", "two words", "#3", ":x"],
    "partition": ["gpu", "cpu"],
    "nodes": ["1", "2", "2-4"],
    "ntasks": ["4", "8"],
    "cpus-per-task": ["1", "2"],
    "constraint": ["a100"],
    "mail-user": ["ada@example.org"],
    "ntasks-per-node": ["2"],
}
LETTERS = {name: letter for letter, name in SBATCH.letters.items()}
FLAGS = ["--hold", "-H", "--requeue", "--exclusive", "--contiguous", "-O", "--no-kill", "-k"]
SHORT_FORMS = ["--job=short", "--par gpu", "--tasks 2", "--out=o", "--err e", "--part=cpu"]
#: Words that are refused, or end the reading of their line.
ODD = [
    *("word", "--nt=2", "--hold=1", "-", "-- -n2", "''", "# rest", "--nosuch=1", "-y", "-J"),
    *("'open", ": -n2", "--exclusive user", "-koff", "--clus", "HETJOB"),
]
#: Lines that sbatch does not read as options, and whether it reads on after them.
OTHER_LINES = [
    *("", "   ", "\t", "\f", "# a comment", "  # indented", "#", "##SBATCH -n 9", "# SBATCH -n 9"),
    *("  #SBATCH -n 9", "#sbatch -n 9", "# one\u2028two", "# one\u0085two", "#\x0bx"),
]
COMMANDS = ["true", "  set -e", ": # text", "export A=1", "\u00a0true"]
REFUSALS = re.compile(
    r"Invalid directive|unrecognized|invalid option|ambiguous|requires an argument|doesn't allow"
    r"|Unmatched|Unexpected `:`"
)
SHOWN = re.compile(r"^([a-z][a-z-]+) +: (.*)$")


def quoted(chance: random.Random, value: str) -> str:
    """Return a value as somebody may write it on a ``#SBATCH`` line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    if re.fullmatch(r"[\w.@-]+", value):
        return chance.choice([value, value, f'"{value}"', f"'{value}'"])
    return f'"{escaped}"'


def option(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return chance.choice(FLAGS)
    if chance.random() < 0.15:
        return chance.choice(SHORT_FORMS)
    name = chance.choice(list(VALUES))
    value = quoted(chance, chance.choice(VALUES[name]))
    forms = [f"--{name}={value}", f"--{name} {value}", f"--{name}\t{value}"]
    if letter := LETTERS.get(name):
        forms += [f"-{letter} {value}", f"-{letter}{value}"]
    return chance.choice(forms)


def directive(chance: random.Random) -> str:
    words = [option(chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
    if chance.random() < 0.08:
        words.insert(chance.randrange(len(words) + 1), chance.choice(ODD))
    if chance.random() < 0.15:
        words.append(chance.choice(["# a comment", "#glued", "\\", " \t "]))
    gap = chance.choice([" ", " ", "  ", "\t"])
    return MAGIC + gap + gap.join(words)


def generate(chance: random.Random) -> str:
    lines = ["#!/bin/bash"]
    for _ in range(chance.randrange(1, 7)):
        is_directive = chance.random() < 0.7
        lines.append(directive(chance) if is_directive else chance.choice(OTHER_LINES))
    if chance.random() < 0.1:
        lines.insert(chance.randrange(1, len(lines)), f"{MAGIC}{chance.choice(['', ' '])}hetjob")
    lines.append(chance.choice(COMMANDS))
    lines += [directive(chance) for _ in range(chance.randrange(2))]
    return "\n".join(lines) + "\n"


def archive(scripts: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in scripts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def answers(printed: str) -> Iterator[tuple[str, str]]:
    """Yield what sbatch printed for each script."""
    for part in printed.split("==> ")[1:]:
        name, _, answer = part.partition("\n")
        yield name, answer


def shown_options(answer: str) -> dict[str, str]:
    """Return the options that sbatch lists, of the first part of a heterogeneous job."""
    found = {}
    for line in answer.split("end of defined options")[0].split("\n"):
        if match := SHOWN.match(line):
            found[match[1]] = match[2]
    found.pop("test-only", None)
    found.pop("verbose", None)
    return found


def read_options(text: str) -> dict[str, str]:
    return {option.name: option.value for option in read_header(text).directives}


def is_refused(text: str) -> bool:
    notes = read_header(text).notes
    return any(note.blocks or note.text.startswith("sbatch has no option") for note in notes)


@pytest.mark.slurm
def test_generated_scripts_are_read_as_sbatch_reads_them(rig: SlurmRig) -> None:
    chance = random.Random(29)  # noqa: S311 -- no secret
    scripts = {f"{number:03}.sh": generate(chance) for number in range(COUNT)}
    folder = f"{rig.site.directory}/directives"
    command = ["sh", "-c", ASK, "sh", folder]
    done = rig.transport.run(command, stdin=archive(scripts), timeout=60)
    compared = dict(answers(done.out))
    assert compared.keys() == scripts.keys()
    refused = 0
    for name, answer in compared.items():
        text = scripts[name]
        context = f"{text}\n{answer}"
        if REFUSALS.search(answer):
            refused += 1
            assert is_refused(text), context
            continue
        assert not is_refused(text), context
        read = read_options(text)
        shown = shown_options(answer)
        assert read.keys() == shown.keys(), context
        for option_name in VALUES.keys() & read.keys():
            assert read[option_name] == shown[option_name], context
    assert COUNT / 20 < refused < COUNT / 2


def test_lines_of_other_systems_are_named() -> None:
    for magic in FOREIGN:
        (note,) = read_header(f"#!/bin/sh\n{magic} -l nodes=2\ntrue\n").notes
        assert (note.line, note.blocks) == (2, False)
