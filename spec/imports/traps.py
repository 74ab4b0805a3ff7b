"""What the reader of a batch script should know about its lines before it runs as it stands: the
traps of Slurm, and what is different on this machine. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from spec.imports.allocation import GPU_OPTIONS, TASK_OPTIONS, JobAllocation
from spec.imports.directives import (
    AFTER_COMMAND,
    MAGIC,
    Directive,
    Note,
    late_directives,
    parse_whole_number,
    read_header,
    split_lines,
)
from spec.imports.hosts import ScriptHost
from spec.imports.placeholders import has_placeholder
from spec.imports.shell import Command, Statement, commands_of
from spec.imports.steps import read_step

SET_BY_TRAINYARD = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "NODE_RANK"}
SLURM_VARIABLE = re.compile(r"\$\{?(SLURM_\w+)")
HOME_PATH = re.compile(r"(?:^|[\s=\"'])(?:~/|\$HOME\b|\$\{HOME\})")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]*")
LOOPBACK = re.compile(r"localhost(\.\S+)?|127(\.\d+){1,3}|::1")
FIRST_NODE = '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
IGNORED_SIGNAL = re.compile(r"R?B:(SIG)?(INT|QUIT|2|3)(@\d+)?", re.IGNORECASE)
#: Builtins that set variables for the programs after them.
EXPORTING = {"export", "declare", "typeset", "readonly"}
SUBMITS = (
    "sbatch starts a job of its own, which the quota, the list of workloads and Stop do not know. "
    "On this machine it starts nothing."
)
FREE_PORT = "$((20000 + SLURM_JOB_ID % 10000))"
COMMAND_OF_JOB = re.compile(r"\bscontrol\b.*\bshow\b.*\bCommand\b")
COPIED = (
    "Command is the path of Trainyard's copy of the script, not of your file. To find the files "
    "next to it, set --chdir and use $SLURM_SUBMIT_DIR."
)
OWN_FOLDER = "Without --chdir it starts in a folder of the workload, not where your files are."
#: Options of a job that mean something on this machine.
MACHINE_OPTIONS = {
    *(
        "job-name",
        "time",
        "nodes",
        "chdir",
        "signal",
        "mem",
        "mem-per-cpu",
        "mem-per-gpu",
        "cpus-per-gpu",
    ),
    *("cpus-per-task", "sockets-per-node", *TASK_OPTIONS, *GPU_OPTIONS),
}
NO_TIME_LIMIT = "Without --time there is no end before which --signal could send its signal."
OUTPUT_KEPT = "Trainyard keeps what each rank prints; this file is not written."
#: Options whose effect Trainyard has in a way of its own.
HANDLED_OPTIONS = {
    "output": OUTPUT_KEPT,
    "error": OUTPUT_KEPT,
    "account": "The account is that of the cluster's connection.",
    "requeue": "Trainyard's jobs are always queued again when their nodes fail.",
    "no-requeue": "Trainyard's jobs are queued again when their nodes fail.",
    "mail-type": "Trainyard sends no mail about jobs.",
    "mail-user": "Trainyard sends no mail about jobs.",
}


def slurm_notes(
    text: str, allocation: JobAllocation, statements: Sequence[Statement]
) -> Iterator[Note]:
    """Yield the notes about a script that Slurm runs as it stands."""
    options = allocation.options
    yield from _folder_notes(options)
    yield from _job_notes(options)
    for number, line in _lines(text):
        if HOME_PATH.search(line) and not line.startswith(MAGIC):
            yield Note(number, "The home folder is that of Trainyard's user on the cluster.")
    yield from _copy_notes(text)
    for statement in statements:
        for command in commands_of(statement):
            yield from _rendezvous_notes(command, allocation)
            yield from _step_notes(command)


def machine_notes(
    text: str, allocation: JobAllocation, statements: Sequence[Statement]
) -> Iterator[Note]:
    """Yield the notes about a script that this machine runs as it stands."""
    options = allocation.options
    for name, option in options.items():
        if name in {"output", "error"}:
            yield Note(option.line, OUTPUT_KEPT)
        elif name not in {*MACHINE_OPTIONS, "array"}:
            yield Note(option.line, f"--{name} has no effect on this machine.")
    if "signal" in options and "time" not in options:
        yield Note(options["signal"].line, NO_TIME_LIMIT)
    if "chdir" not in options:
        yield Note(1, OWN_FOLDER)
    yield from _copy_notes(text)
    for statement in statements:
        for command in commands_of(statement):
            for name, value in assigned_values(command):
                yield from _assignment_notes(command.line, name, value, allocation.tasks)
            yield from _step_notes(command)


def header_notes(text: str) -> Iterator[Note]:
    """Yield the notes about the options of a script, however it runs."""
    header = read_header(text)
    yield from header.notes


def heterogeneity_notes(text: str) -> Iterator[Note]:
    """Yield a note for each line that begins another part of a heterogeneous job, which runs as it
    stands on Slurm only."""
    for line in read_header(text).separators:
        yield Note(line, "A heterogeneous job runs on Slurm only, as it stands", blocks=True)


def late_notes(text: str, statements: Sequence[Statement]) -> Iterator[Note]:
    """Yield a note for each option after the first command, but for those in here-documents, which
    may be scripts themselves."""
    inside = {line for statement in statements for line in statement.here_document_lines}
    for line, first_command in late_directives(text):
        if line not in inside:
            yield Note(line, AFTER_COMMAND.format(first_command))


def _rendezvous_notes(command: Command, allocation: JobAllocation) -> Iterator[Note]:
    for name, value in assigned_values(command):
        yield from _assignment_notes(command.line, name, value, allocation.tasks)
        if name == "MASTER_ADDR":
            has_one_node = _has_one_node(allocation)
            yield from _master_notes(command.line, value, has_one_node=has_one_node)


def assigned_values(command: Command) -> Iterator[tuple[str, str]]:
    """Yield the variables that a command sets for those after it, and their values. The value of a
    word that expands is what is written."""
    words = command.assignments if not command.words else ()
    if command.name in EXPORTING:
        words = command.words[1:]
    for word in words:
        name, equals, value = (word.text if word.expands else word.value).partition("=")
        if equals:
            yield name, value.strip('"') if word.expands else value


def _step_notes(command: Command) -> Iterator[Note]:
    if command.name == "sbatch":
        yield Note(command.line, SUBMITS)
    step = read_step(command)
    if step is None:
        return
    if "kill-on-bad-exit" not in step.options:
        text = "Without -K a rank that fails leaves the others waiting until the time limit; "
        yield Note(command.line, text + "Trainyard sets SLURM_KILL_BAD_EXIT=1.")
    for name in ("output", "error"):
        if name in step.options:
            what = "prints" if name == "output" else "prints as errors"
            file = step.options[name]
            text = f"What this srun {what} is in the file {file}, and not in the logs."
            yield Note(command.line, text)


def _job_notes(options: Mapping[str, Directive]) -> Iterator[Note]:
    if (option := options.get("dependency")) and "singleton" in option.value:
        text = (
            "singleton goes by the name of the job, and Trainyard gives each its own: it waits for "
        )
        yield Note(option.line, text + "no other.")
    if (option := options.get("signal")) and IGNORED_SIGNAL.fullmatch(option.value):
        text = (
            f"The script does not hear {option.value}: in the background a shell ignores INT and "
        )
        yield Note(option.line, text + "QUIT. USR1, USR2, HUP and TERM reach it.")


def _assignment_notes(number: int, name: str, value: str, tasks: int) -> Iterator[Note]:
    if name == "WORLD_SIZE" and (size := parse_whole_number(value)) is not None:
        if size != tasks:
            text = f"WORLD_SIZE is {value}, but the script asks for {tasks} tasks: the ranks would "
            yield Note(number, f"{text}wait for each other. Write {tasks}, or $SLURM_NTASKS.")
        else:
            text = "WORLD_SIZE is written by hand, and has to follow --nodes and --ntasks-per-node."
            yield Note(number, f"{text} $SLURM_NTASKS does so.")
    if name == "MASTER_PORT" and parse_whole_number(value) is not None:
        text = f"Port {value} is fixed: of two jobs on one node the second fails. "
        yield Note(number, f"{text}{FREE_PORT} gives each its own.")


def _has_one_node(allocation: JobAllocation) -> bool:
    """Whether the job surely runs on one node. Without a number of nodes, Slurm may spread its
    tasks."""
    nodes = allocation.options.get("nodes")
    return allocation.tasks == 1 or (nodes is not None and nodes.value == "1")


def _master_notes(number: int, value: str, *, has_one_node: bool) -> Iterator[Note]:
    if LOOPBACK.fullmatch(value):
        why = "and each node would look for rank 0 on itself"
        text = "" if has_one_node else f"MASTER_ADDR is {value}, {why}: the ranks would never meet."
    elif HOST.fullmatch(value):
        why = "on whatever nodes the job runs: the ranks would wait for it."
        text = f"MASTER_ADDR is {value}, {why}"
    else:
        text = ""
    if text:
        yield Note(number, f"{text} {FIRST_NODE} is the first node of the job.")


def _folder_notes(options: Mapping[str, Directive]) -> Iterator[Note]:
    for name in ("output", "error"):
        option = options.get(name)
        folder = PurePosixPath(option.value).parent if option else PurePosixPath()
        if option and str(folder) != ".":
            text = f"sbatch alone would end the job without a word where {folder} does not exist. "
            yield Note(option.line, text + OUTPUT_KEPT)
        elif option:
            yield Note(option.line, OUTPUT_KEPT)
    option = options.get("chdir")
    if option is None:
        yield Note(1, OWN_FOLDER)
    elif PurePosixPath(option.value) == PurePosixPath("."):
        text = f"--chdir={option.value} is a folder of the workload, not where your files are."
        yield Note(option.line, text)
    elif not has_placeholder(option.value):
        text = f"{option.value} has to exist on every node, where Trainyard's user can enter it."
        yield Note(option.line, text)


def _copy_notes(text: str) -> Iterator[Note]:
    for number, line in _lines(text):
        if COMMAND_OF_JOB.search(line):
            yield Note(number, COPIED)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, without comments."""
    for number, line in enumerate(split_lines(text), 1):
        if not line.startswith("#") or line.startswith(MAGIC):
            yield number, line


NOTES = {ScriptHost.SLURM: slurm_notes, ScriptHost.MACHINE: machine_notes}
