"""Turns a batch script of Slurm into a distributed PyTorch training, with notes for its reader.

Each task of the job becomes a rank. What the script says about the cluster itself is left to
Trainyard.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.formats.documents import REPLICA_FIELDS
from spec.imports import traps
from spec.imports.allocation import JobAllocation, read_allocation, sharing_note
from spec.imports.directives import Directive, parse_size, parse_time
from spec.imports.traps import Note
from spec.workload import WorkloadSpec

BATCH_SCRIPT = "batchScript"  # a field of the spec, as the next one
TIME_LIMIT = "timeLimitSeconds"
KNOWN_OPTIONS = {
    *("job-name", "partition", "time", "nodes", "ntasks", "ntasks-per-node", "gres", "gpus"),
    *("gpus-per-node", "gpus-per-task", "gpus-per-socket", "sockets-per-node", "tres-per-task"),
    *("ntasks-per-gpu", "cpus-per-task", "cpus-per-gpu", "extra-node-info"),
    *("mem", "mem-per-cpu", "mem-per-gpu", "chdir", "qos", "constraint"),
}


@dataclass
class ImportedScript:
    """The workload of a script. ``spec`` has the names in JSON. ``partition`` and ``qos`` are left
    to those who know the cluster. With ``has_master``, the first task is a master, which has the
    GPUs that cannot be divided evenly."""

    allocation: JobAllocation
    name: str = ""
    partition: str = ""
    partition_line: int = 0
    qos: str = ""
    qos_line: int = 0
    spec: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    has_master: bool = False

    @property
    def is_unchanged(self) -> bool:
        return BATCH_SCRIPT in self.spec

    def master(self, spec: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the master for a spec that is based on that of the script: a worker with more
        GPUs. ``None`` if all ranks are workers."""
        if not self.has_master:
            return None
        compute = dict(spec.get("compute") or {})
        gpus = self.allocation.gpus_of_task + self.allocation.shared_gpus
        fields = {key: value for key, value in spec.items() if key in REPLICA_FIELDS}
        return fields | {"compute": compute | {"gpuDevicesRequest": gpus}}


def import_script(text: str, *, unchanged: bool = False) -> ImportedScript:
    """Read a script. With ``as_it_stands``, Slurm runs the script itself, and the spec says what it
    requests."""
    script = ImportedScript(read_allocation(text))
    _set_ranks(script, unchanged)
    for option in script.allocation.options.values():
        _read_option(script, option, unchanged)
    script.notes += traps.placeholder_notes(text)
    if unchanged:
        script.spec |= {BATCH_SCRIPT: text, "command": _first_command(text), "backoffLimit": 0}
        allocation = script.allocation
        script.notes += traps.slurm_notes(text, allocation.options, allocation.tasks)
    else:
        script.spec |= _read_program(script, text)
        script.notes += traps.conversion_notes(text)
    script.notes.sort(key=lambda note: note.line)
    return script


def time_limit_of_script(spec: WorkloadSpec) -> int | None:
    """The time limit in seconds that the workload's batch script sets itself, if it has one."""
    if not spec.batch_script:
        return None
    limit: int | None = import_script(spec.batch_script, unchanged=True).spec.get(TIME_LIMIT)
    return limit


def _set_ranks(script: ImportedScript, unchanged: bool) -> None:
    """Set the number of ranks, and what each of them requests."""
    allocation = script.allocation
    script.notes += allocation.notes
    compute: dict[str, Any] = {"cpuCoreRequest": allocation.cpus_per_task}
    if allocation.gpus_of_task:
        compute["gpuDevicesRequest"] = allocation.gpus_of_task
    if memory := _memory_per_rank(script, allocation):
        compute["cpuMemoryRequest"] = f"{memory}Mi"
    script.spec |= {
        "distributedFramework": "PyTorch",
        "numWorkers": allocation.tasks,
        "compute": compute,
    }
    if note := sharing_note(allocation, unchanged=unchanged):
        script.notes.append(note)
        if unchanged:
            script.has_master = True
            script.spec["numWorkers"] = allocation.tasks - 1


def _memory_per_rank(script: ImportedScript, allocation: JobAllocation) -> int | None:
    """Return the memory of each rank in MiB; ``None`` if the script does not say."""
    factors = {
        "mem-per-cpu": allocation.cpus_per_task,
        "mem-per-gpu": allocation.gpus / allocation.tasks,
        "mem": allocation.nodes / allocation.tasks,
    }
    for name, factor in factors.items():
        option = allocation.options.get(name)
        if option and not traps.PLACEHOLDER.search(option.value):
            size = parse_size(option.value)
            if size is None and option.value != "0":
                text = f"--{name}={option.value} is not a size"
                script.notes.append(Note(option.line, text, blocks=True))
            return int(size * factor) if size else None
    return None


def _read_option(script: ImportedScript, option: Directive, unchanged: bool) -> None:
    name = option.name
    value = option.value
    if traps.PLACEHOLDER.search(value):
        return  # ``traps`` reports it
    match name:
        case "job-name":
            script.name = re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-")
        case "partition":
            script.partition = value
            script.partition_line = option.line
        case "qos":
            script.qos = value
            script.qos_line = option.line
        case "time" if value.upper() in {"0", "UNLIMITED", "INFINITE"}:
            pass
        case "time" if (limit := parse_time(value)) is not None:
            script.spec[TIME_LIMIT] = limit
        case "time":
            script.notes.append(Note(option.line, f"--time={value} is not a time", blocks=True))
        case "chdir":
            script.spec["workingDir"] = value
        case "constraint":
            script.spec["nodeType"] = value
        case _ if name not in KNOWN_OPTIONS and not unchanged:
            text = traps.HANDLED_OPTIONS.get(
                name, f"--{name} has no counterpart in Trainyard and is left out."
            )
            script.notes.append(Note(option.line, text))


def _read_program(script: ImportedScript, text: str) -> dict[str, Any]:
    """Return the command of the only ``srun``, and the lines before it as setup."""
    setup: list[str] = []
    steps = [(number, line) for number, line in _commands(text) if traps.is_step(line)]
    if len(steps) != 1:
        where = steps[1][0] if steps else 1
        what = "several steps" if steps else "no srun"
        problem = f"The script has {what}; a workload runs one command under srun"
        script.notes.append(Note(where, problem, blocks=True))
        return {}
    at, step = steps[0]
    try:
        command = _step_command(step)
    except ValueError:  # from shlex
        problem = "A quote of this srun ends on another line, or nowhere; write it on one line"
        script.notes.append(Note(at, problem, blocks=True))
        return {}
    for number, line in _commands(text):
        if number > at:
            script.notes.append(Note(number, "What follows srun is left out."))
        elif number < at and not (reason := traps.reason_to_drop(line)):
            setup.append(line)
        elif number < at:
            script.notes.append(Note(number, reason))
    if not traps.ends_together(step):
        text = "Without -K a rank that fails leaves the others waiting; Trainyard ends them."
        script.notes.append(Note(at, text))
    return {"command": command, **({"setup": setup} if setup else {})}


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that run something. Continued lines are joined."""
    start = 0
    joined = ""
    for number, line in enumerate(text.splitlines(), 1):
        joined, start = (joined + line.strip(), start) if joined else (line.strip(), number)
        if joined.endswith("\\"):
            joined = joined[:-1].rstrip() + " "
            continue
        if joined and not joined.startswith("#"):
            yield start, joined
        joined = ""


def _first_command(text: str) -> str:
    """Return the command of the first step, for people to read: Slurm runs the script itself."""
    steps = (line for _, line in _commands(text) if traps.is_step(line))
    step = next(steps, "")
    try:
        return (_step_command(step) if step else "") or "bash"
    except ValueError:  # only a shell can read a quote that ends on another line
        return "bash"


def _step_command(line: str) -> str:
    """Return the command of a step, without ``srun`` and its options. Raises ``ValueError`` if a
    quote does not end."""
    words = shlex.split(line)[1:]
    with_value = {"-n", "-N", "-c", "-G", "-w", "-J", "-p", "-t"}
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in with_value and words:
            words.pop(0)
    return shlex.join(words)
