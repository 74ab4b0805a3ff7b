"""A batch script line by line: what each line gives to the workload, and what to know about it.
Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from spec.imports.allocation import GPU_OPTIONS, TASK_OPTIONS
from spec.imports.directives import Note, read_header, split_lines
from spec.imports.sbatch import ImportedScript
from spec.problems.time_limit import format_duration

READ = "Read as sbatch reads it"
RANKS = {"nodes", *TASK_OPTIONS}
WITHOUT_EFFECT = {"output", "error", "array"}  # options without effect, or with a note of their own


@dataclass(frozen=True)
class ExplainedLine:
    """A line. ``gives`` is what the workload gets from it; empty if nothing."""

    number: int
    text: str
    effect: str
    notes: tuple[Note, ...]

    @property
    def blocks(self) -> bool:
        return any(note.blocks for note in self.notes)


def explain_lines(script: ImportedScript) -> Iterator[ExplainedLine]:
    """Yield each line of the script."""
    given: dict[int, list[str]] = {}
    lines_with_notes = {note.line for note in script.notes}
    for option in read_header(script.text).all_directives:
        effects = given.setdefault(option.line, [])
        effect = _directive_effect(option.name, script)
        if effect == READ and option.line in lines_with_notes:
            continue  # the note says more
        if effect and effect not in effects:
            effects.append(effect)
    for number, line in enumerate(split_lines(script.text), 1):
        notes = tuple(note for note in script.notes if note.line == number)
        gives = ", ".join(given.get(number, [])) or _command_effect(line.strip(), script)
        yield ExplainedLine(
            number, line, "" if any(note.blocks for note in notes) else gives, notes
        )


def _directive_effect(name: str, script: ImportedScript) -> str:
    spec = script.spec
    compute = spec["compute"]
    if name in RANKS:
        return f"{script.allocation.tasks} workers, one for each task"
    if name in GPU_OPTIONS:
        count = script.allocation.gpus_of_task
        return f"{count} GPU{'s' * (count > 1)} for each worker" if count else ""
    match name:
        case "job-name" if not any(note.line == script.name_line for note in script.notes):
            return f"Name: {script.job_name}"
        case "job-name":
            return ""  # a note says what the name becomes
        case "time" if "timeLimitSeconds" in spec:
            return f"Time limit: {format_duration(spec['timeLimitSeconds'])}"
        case "cpus-per-task":
            return f"CPU cores for each worker: {compute['cpuCoreRequest']}"
        case "mem" | "mem-per-cpu" if "cpuMemoryRequest" in compute:
            return f"Memory for each worker: {_format_size(compute['cpuMemoryRequest'])}"
        case "chdir" if "workingDir" in spec:
            return "Working directory"
        case "constraint":
            return "Node type"
        case "partition" if spec.get("nodePools"):
            return "Node pool"
        case "qos" if spec.get("priorityClass"):
            return "Priority"
    return READ if script.is_unchanged and name not in WITHOUT_EFFECT else ""


def _format_size(mebibytes: str) -> str:
    count = int(mebibytes.removesuffix("Mi"))
    return f"{count // 1024} GiB" if count % 1024 == 0 else f"{count} MiB"


def _command_effect(line: str, script: ImportedScript) -> str:
    if script.is_unchanged or not line or line.startswith("#"):
        return ""
    if line in script.spec.get("setup", ()):
        return "Setup command"
    return "Command of each worker" if line.startswith("srun ") else ""
