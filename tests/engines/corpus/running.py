"""Runs batch scripts by an engine, and makes what two engines printed comparable."""

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from engines.base import Handle, Launch, Observation
from spec.formats.documents import from_wire, load_spec
from spec.imports.sbatch import import_script
from spec.phases import Phase
from tests.engines.contract import Rig
from tests.engines.reading import logs, output

AT_ONCE = 4
NODE = re.compile(r"\bn\d+\b|\b127\.0\.0\.\d+\b")
#: What differs between two runs of one script, and what it becomes.
REPLACEMENTS = (
    (re.compile(r"/\S*/script(\.sh)?: line"), "SCRIPT: line"),  # the shell names the script's file
    (re.compile(r"StepId=\d+\.\d+"), "StepId=STEP"),
    (re.compile(r"\bjob \d+"), "job JOB"),
    (re.compile(r"slurmstepd-\S+: "), "slurmstepd: "),  # a testbed has several on one machine
    # Slurm 24.11 names no plugin.
    (re.compile(r"^srun: launch/slurm: _step_signal: ", re.MULTILINE), "srun: "),
)
#: Lines that depend on how fast the daemons of Slurm are, which this machine does not have.
DAEMONS = re.compile(
    r"^(slurmstepd\S* error: \*\*\* STEP|srun: Force Terminated|srun: Job \d+ step creation"
    r"|srun: Step created).*\n",
    re.MULTILINE,
)
#: Tasks that end alike at the same moment share a line, unless a moment lies between them.
ENDS = re.compile(r"srun: error: (\S+): tasks? ([\d,-]+): (.*)")


@dataclass(frozen=True)
class Result:
    """How a script ended, and the lines of each rank that printed any."""

    phase: Phase
    message: str
    logs: dict[int, list[str]]


def make_launch(text: str, **fields: Any) -> Launch:
    """Return the launch of a batch script as it is. ``fields`` are those of the spec in JSON."""
    quick = {"backoffLimit": 0, "terminationGracePeriodSeconds": 2}
    document = import_script(text, unchanged=True).spec | quick | fields
    spec = load_spec(from_wire(document, no_master=True, master=None))
    return Launch(Handle(uuid4(), "corpus", "team-a"), 1, spec)


def submit_all(rig: Rig, launches: Iterable[Launch]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(rig.submit, launches))


def wait_for_result(rig: Rig, launched: Launch) -> Result:
    """Wait for the end of a script, and return what is comparable of it."""
    shown = rig.over(launched)
    texts = {rank.rank: _read_log(rig, launched, rank.rank) for rank in shown.ranks}
    names = _node_names(shown, texts.values())
    assert shown.phase is not None
    lines = {rank: _normalize(text, names) for rank, text in texts.items()}
    printed = {rank: text for rank, text in lines.items() if text}
    return Result(shown.phase, shown.message, printed)


def _read_log(rig: Rig, launched: Launch, rank: int) -> str:
    found = logs(rig.engine, launched.handle, rank)
    return "".join(output(rig.engine, launched.handle, log).decode() for log in found)


def _node_names(shown: Observation, texts: Iterable[str]) -> list[str]:
    """Return the nodes of a job, in order."""
    names = {name for text in texts for name in NODE.findall(text)}
    names |= {rank.node for rank in shown.ranks if NODE.fullmatch(rank.node)}
    return sorted(names)


def _normalize(text: str, names: list[str]) -> list[str]:
    """Return the lines of an output with nodes by their position, and without what differs between
    two runs."""
    text = NODE.sub(lambda match: f"node-{names.index(match[0])}", DAEMONS.sub("", text))
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return list(_separate_ends(text.splitlines(keepends=True)))


def _separate_ends(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with one for each task that srun says has failed. Those that follow one
    another are in the order of their tasks, because tasks end in any order."""
    ends: list[str] = []
    for line in lines:
        match = ENDS.match(line)
        if match:
            node, tasks, what = match.groups()
            ends += [f"srun: error: {node}: task {task}: {what}\n" for task in _numbers(tasks)]
            continue
        yield from sorted(ends)
        ends = []
        yield line
    yield from sorted(ends)


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
