"""Turns a batch script of Slurm into a distributed PyTorch training, with notes for its reader.

Each task of the job becomes a rank. What the script says about the cluster itself is left to
Trainyard.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from spec.formats.documents import REPLICA_FIELDS
from spec.imports import traps
from spec.imports.allocation import JobAllocation, read_allocation, sharing_note
from spec.imports.arrays import ArrayError, JobArray, parse_array
from spec.imports.conversion import take_program
from spec.imports.directives import (
    WITHHELD,
    Directive,
    Note,
    parse_directives,
    parse_size,
    parse_time,
    read_header,
)
from spec.imports.hosts import ScriptHost
from spec.imports.placeholders import has_placeholder, placeholder_notes
from spec.imports.shell import Statement, commands_of, is_shell_script, read_statements
from spec.imports.steps import read_step
from spec.parts.batch_script import DOS_LINE_END, DOS_LINES
from spec.workload import WorkloadSpec

BATCH_SCRIPT = "batchScript"  # a field of the spec, as the next one
TIME_LIMIT = "timeLimitSeconds"
BYTE_ORDER_MARK = "\ufeff"
MARK_LEFT_OUT = "The byte order mark before this line is left out: sbatch would refuse it."
NO_LIMIT = {"0", "UNLIMITED", "INFINITE"}
ARGUMENTS_LOST = "Arguments are for the script itself, which is not taken over"
#: A constraint that can be a node type, unlike an expression such as ``a100|h100``.
FEATURE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
KNOWN_OPTIONS = {
    *("job-name", "partition", "time", "nodes", "ntasks", "ntasks-per-node", "gres", "gpus"),
    *("gpus-per-node", "gpus-per-task", "gpus-per-socket", "sockets-per-node", "tres-per-task"),
    *("ntasks-per-gpu", "cpus-per-task", "cpus-per-gpu", "extra-node-info"),
    *("mem", "mem-per-cpu", "mem-per-gpu", "chdir", "qos", "constraint", "array"),
}


@dataclass
class ImportedScript:
    """The workload of a script. ``text`` has no byte order mark. ``spec`` has the names in JSON.
    ``partition`` and ``qos`` are left to those who know the cluster. With ``has_master``, the first
    task is a master, which has the GPUs that cannot be divided evenly. Each element of an ``array``
    is a workload of its own."""

    text: str
    allocation: JobAllocation
    job_name: str = ""
    name_line: int = 0
    partition: str = ""
    partition_line: int = 0
    qos: str = ""
    qos_line: int = 0
    spec: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    has_master: bool = False
    array: JobArray | None = None

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

    def elements(self, job_number: int) -> Iterator[tuple[str, "ImportedScript"]]:
        """Yield the script of each element of the array, and the end of its name: ``-3``. Without
        an array, yield the script itself. ``job_number`` identifies the array."""
        if self.array is None:
            yield "", self
            return
        for index in self.array.indexes:
            values = self.array.variables(index, job_number)
            variables = [{"name": name, "value": value} for name, value in values.items()]
            yield f"-{index}", replace(self, spec=self.spec | {"environmentVariables": variables})


def import_script(
    text: str,
    *,
    unchanged: bool = False,
    host: ScriptHost = ScriptHost.SLURM,
    arguments: Sequence[str] = (),
) -> ImportedScript:
    """Read a script. If it runs ``unchanged``, with ``arguments``, the spec says what it requests
    of the ``host``. Else the spec is a workload that runs the same program."""
    has_mark = text.startswith(BYTE_ORDER_MARK)
    text = text.removeprefix(BYTE_ORDER_MARK)
    script = ImportedScript(text, read_allocation(text))
    statements = read_statements(text) if is_shell_script(text) else []
    _set_ranks(script, unchanged)
    for option in script.allocation.options.values():
        _read_option(script, option, unchanged)
    if has_mark:
        script.notes.append(Note(1, MARK_LEFT_OUT))
    if DOS_LINE_END in text:
        line = text.partition(DOS_LINE_END)[0].count("\n") + 1
        script.notes.append(Note(line, DOS_LINES, blocks=True))
    _read_array(script)
    script.notes += traps.header_notes(text)
    script.notes += placeholder_notes(read_header(text).all_directives, statements)
    if not (unchanged and host is ScriptHost.SLURM):
        script.notes += traps.heterogeneity_notes(text)
    if unchanged:
        script.spec |= {BATCH_SCRIPT: text, "backoffLimit": 0}
        script.spec["command"] = _first_command(statements)
        if arguments:
            script.spec["args"] = shlex.join(arguments)
        notes_of = traps.NOTES[host]
        script.notes += notes_of(text, script.allocation, statements)
        if host is ScriptHost.MACHINE:
            script.spec.pop("nodeType", None)
    else:
        program = take_program(text, statements, script.allocation)
        if arguments:
            program.refuse(1, ARGUMENTS_LOST)
        script.notes += program.notes
        if program.command:
            script.spec["command"] = program.command
        if program.setup:
            script.spec["setup"] = program.setup
    script.notes += traps.late_notes(text, statements)
    script.notes = sorted(dict.fromkeys(script.notes), key=lambda note: note.line)
    return script


def time_limit_of_script(spec: WorkloadSpec) -> int | None:
    """The time limit in seconds that the workload's batch script sets itself, if it has one."""
    if not spec.batch_script:
        return None
    limits = [it.value for it in parse_directives(spec.batch_script) if it.name == "time"]
    return _read_time_limit(limits[-1]) if limits else None


def _read_time_limit(value: str) -> int | None:
    """Return a time limit in seconds; ``None`` if there is none, or it is not a time."""
    return None if value.upper() in NO_LIMIT else parse_time(value)


def _read_array(script: ImportedScript) -> None:
    option = script.allocation.options.get("array")
    if option is None or has_placeholder(option.value):
        return
    try:
        script.array = parse_array(option.value)
    except ArrayError as error:
        script.notes.append(Note(option.line, str(error), blocks=True))


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
    """Return the memory of each rank in MiB; ``None`` if the script does not say. The ranks of a
    heterogeneous job have an average."""
    if allocation.parts:
        sizes = [(part, _memory_per_rank(script, part) or 0) for part in allocation.parts]
        return sum(part.tasks * size for part, size in sizes) // allocation.tasks or None
    factors = {
        "mem-per-cpu": allocation.cpus_per_task,
        "mem-per-gpu": allocation.gpus / allocation.tasks,
        "mem": allocation.nodes / allocation.tasks,
    }
    for name, factor in factors.items():
        option = allocation.options.get(name)
        if option and not has_placeholder(option.value):
            size = parse_size(option.value)
            if size is None and option.value != "0":
                text = f"--{name}={option.value} is not a size"
                script.notes.append(Note(option.line, text, blocks=True))
            return int(size * factor) if size else None
    return None


def _read_option(script: ImportedScript, option: Directive, unchanged: bool) -> None:
    name = option.name
    value = option.value
    if has_placeholder(value):
        return  # ``traps`` reports it
    match name:
        case "job-name":
            script.job_name = value
            script.name_line = option.line
        case "partition":
            script.partition = value
            script.partition_line = option.line
        case "qos":
            script.qos = value
            script.qos_line = option.line
        case "time" if value.upper() in NO_LIMIT:
            pass
        case "time" if (limit := _read_time_limit(value)) is not None:
            script.spec[TIME_LIMIT] = limit
        case "time":
            script.notes.append(Note(option.line, f"--time={value} is not a time", blocks=True))
        case "chdir" if PurePosixPath(value) == PurePosixPath("."):
            pass  # the folder in which it starts anyway
        case "chdir":
            script.spec["workingDir"] = value
        case "constraint" if FEATURE.match(value):
            script.spec["nodeType"] = value
        case "constraint" if not unchanged:
            text = f"--constraint={value} is left out: a node type is a single name."
            script.notes.append(Note(option.line, text))
        case _ if name not in KNOWN_OPTIONS | WITHHELD.keys() and not unchanged:
            text = traps.HANDLED_OPTIONS.get(
                name, f"--{name} has no counterpart in Trainyard and is left out."
            )
            script.notes.append(Note(option.line, text))


def _first_command(statements: Sequence[Statement]) -> str:
    """Return the command of the first step, for people to read: the script runs itself."""
    for statement in statements:
        for command in commands_of(statement):
            step = read_step(command)
            if step and step.program and statement.is_complete and not statement.has_line_end:
                return shlex.join(
                    word.text if word.expands else word.value for word in step.program
                )
    return "bash"
