"""What the reader of a batch script should know about its lines before it runs. Pure.

For a script that Slurm runs itself, these are the traps of Slurm; for one that becomes a workload,
they are the differences.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from spec.imports.directives import Directive, parse_whole_number

PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_ -]{3,}\]")
SET_BY_TRAINYARD = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "NODE_RANK"}
ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Z_]+)=(.*)$")
SLURM_VARIABLE = re.compile(r"\$\{?(SLURM_\w+)")
HOME_PATH = re.compile(r"(?:^|[\s=\"'])(?:~/|\$HOME\b|\$\{HOME\})")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]*")
LOOPBACK = re.compile(r"localhost(\.\S+)?|127(\.\d+){1,3}|::1")
FIRST_NODE = '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
IGNORED_SIGNAL = re.compile(r"R?B:(SIG)?(INT|QUIT|2|3)(@\d+)?", re.IGNORECASE)
FREE_PORT = "$((20000 + SLURM_JOB_ID % 10000))"
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


@dataclass(frozen=True)
class Note:
    """A note about a line. One that ``blocks`` must be resolved first."""

    line: int
    text: str
    blocks: bool = False


def is_step(line: str) -> bool:
    return line.startswith("srun ")


def reason_to_drop(line: str) -> str:
    match = ASSIGNMENT.match(line)
    if match and match[1] in SET_BY_TRAINYARD:
        return f"Trainyard sets {match[1]} itself, so this line is left out."
    if line.split()[:1] == ["export"] and set(line.split()[1:]) <= SET_BY_TRAINYARD:
        return "Trainyard sets these variables itself, so this line is left out."
    return ""


def placeholder_notes(text: str) -> Iterator[Note]:
    for number, line in _lines(text):
        for placeholder in PLACEHOLDER.findall(line):
            yield Note(number, f"{placeholder} has to be replaced by a value", blocks=True)


def conversion_notes(text: str) -> Iterator[Note]:
    for number, line in _lines(text):
        for name in sorted(set(SLURM_VARIABLE.findall(line))):
            if not reason_to_drop(line.strip()):
                yield Note(number, f"{name} only has a value on Slurm.")


def slurm_notes(text: str, options: Mapping[str, Directive], tasks: int) -> Iterator[Note]:
    """Yield the notes about a script that Slurm runs itself."""
    if option := options.get("array"):
        text = "A job array is many jobs, a workload is one: leave --array out"
        yield Note(option.line, text, blocks=True)
    if any(line.startswith("#SBATCH hetjob") for line in text.splitlines()):
        yield Note(1, "A heterogeneous job cannot run as it stands here", blocks=True)
    yield from _folder_notes(options)
    yield from _job_notes(options)
    for number, line in _lines(text):
        if match := ASSIGNMENT.match(line.strip()):
            name = match[1]
            value = match[2].strip("'\"")
            yield from _assignment_notes(number, name, value, tasks)
            if name == "MASTER_ADDR":
                yield from _master_notes(number, value, has_one_node=_has_one_node(options, tasks))
        if HOME_PATH.search(line) and not line.startswith("#SBATCH"):
            yield Note(number, "The home folder is that of Trainyard's user on the cluster.")
        if is_step(line.strip()) and not ends_together(line):
            text = "Without -K a rank that fails leaves the others waiting until the time limit; "
            yield Note(number, text + "Trainyard sets SLURM_KILL_BAD_EXIT=1.")


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


def ends_together(step: str) -> bool:
    return "kill-on-bad-exit" in step or " -K" in step


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


def _has_one_node(options: Mapping[str, Directive], tasks: int) -> bool:
    """Whether the job surely runs on one node. Without a number of nodes, Slurm may spread its
    tasks."""
    nodes = options.get("nodes")
    return tasks == 1 or (nodes is not None and nodes.value == "1")


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
    if option and not PLACEHOLDER.search(option.value):
        text = f"{option.value} has to exist on every node, where Trainyard's user can enter it."
        yield Note(option.line, text)
    elif option is None:
        text = "Without --chdir it starts in a folder of the workload, not where your files are."
        yield Note(1, text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, without comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#") or line.startswith("#SBATCH"):
            yield number, line
