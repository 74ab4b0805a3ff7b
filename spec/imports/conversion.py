"""Takes the program out of a batch script, for a workload in its place. Pure.

Only what is understood exactly is taken over: one simple ``srun``, and complete lines of shell
before it, which become the setup. Everything else is refused at its line, because the workload
would run something else than the script says.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spec.imports.allocation import JobAllocation
from spec.imports.directives import Note
from spec.imports.shell import (
    PREFIXES,
    Command,
    Statement,
    commands_of,
    is_shell_script,
)
from spec.imports.steps import SrunStep, read_step
from spec.imports.traps import SET_BY_TRAINYARD, assigned_values

RUNS_AS_IT_IS = "the script runs as it is on this machine and on Slurm"
SLURM_VARIABLE = re.compile(r"\$\{?(SLURM_\w+)", re.ASCII)
#: Programs that start ranks themselves.
LAUNCHERS = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun"}
STARTER = re.compile(
    rf"(?<![\w.-])(?:srun|{'|'.join(map(re.escape, sorted(LAUNCHERS)))})(?![\w.-])"
)
#: Commands that would change what the setup does, or act on another job.
NOT_IN_SETUP = {"exec", "exit", "return", "trap", "wait", "sbatch", "salloc", "scancel"}
#: Commands after srun without which the result is the same.
WITHOUT_RESULT = {"echo", "printf", "date", "exit", "wait", "true", ":"}
#: Options of srun that change nothing for one step in an allocation of its own.
WITHOUT_EFFECT = {
    *("kill-on-bad-exit", "unbuffered", "quiet", "verbose", "overlap", "exact", "exclusive"),
    *("job-name", "disable-status"),
}
#: Arguments of the script, which the setup does not have.
POSITIONAL = re.compile(r"\$(?:[0-9@*#]|\{[0-9@*#])")
#: ``$(NAME)`` and ``$$`` would be replaced in a workload's command.
REFERENCE = re.compile(r"\$[($]")


@dataclass
class ConvertedProgram:
    """What the workload runs, and the notes about the lines that it comes from."""

    command: str = ""
    setup: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def notes_that_block(self) -> list[Note]:
        return [note for note in self.notes if note.blocks]

    def refuse(self, line: int, what: str) -> None:
        self.notes.append(Note(line, f"{what}; {RUNS_AS_IT_IS}", blocks=True))


def take_program(
    text: str, statements: Sequence[Statement], allocation: JobAllocation
) -> ConvertedProgram:
    """Return what a workload runs in place of the script, which has these statements."""
    program = ConvertedProgram()
    if not is_shell_script(text):
        program.refuse(1, "Only a script for a shell can become a workload")
        return program
    has_step = False
    for statement in statements:
        if statement.depth:
            continue  # a part of a compound command, which is refused at its first line
        steps = [step for command in commands_of(statement) if (step := read_step(command))]
        if steps and has_step:
            program.refuse(statement.line, "The script has several steps")
        elif steps:
            has_step = True
            _take_step(program, statement, steps[0], allocation)
        elif has_step:
            _leave_out(program, statement)
        else:
            _take_setup(program, statement)
    if not has_step and not program.notes_that_block:
        line = _main_line(statements)
        program.refuse(line, "The script has no srun, whose command a workload could run")
    return program


def _take_step(
    program: ConvertedProgram, statement: Statement, step: SrunStep, allocation: JobAllocation
) -> None:
    """Take the command of srun, if a shell does nothing but start it."""
    line = statement.line
    problem = _shell_around(statement)
    if not problem and (statement.has_line_end or not statement.is_complete):
        text = "A quote of this srun ends on another line, or nowhere; write it on one line"
        program.notes.append(Note(line, text, blocks=True))
        return
    if problem := problem or _shell_inside(step):
        program.refuse(line, problem)
        return
    for problem in _lost_options(step, allocation):
        program.refuse(line, problem)
    if "label" in step.options:
        text = "Trainyard shows the rank of each line itself, so --label is left out."
        program.notes.append(Note(line, text))
    if step.options.get("kill-on-bad-exit", "0") == "0":
        text = "Without -K a rank that fails leaves the others waiting; Trainyard ends them."
        program.notes.append(Note(line, text))
    program.command = shlex.join(word.value for word in step.program)


def _shell_around(statement: Statement) -> str:
    """Return what a shell does with srun besides starting it; empty if nothing."""
    if statement.reserved:
        return f"srun behind {statement.reserved[0]!r} is not taken over"
    if statement.commands[0].assignments:
        variable = statement.commands[0].assignments[0].text.partition("=")[0]
        return f"srun with the variable {variable} before it is not taken over"
    if statement.operators:
        return f"srun with {statement.operators[0]!r} is not taken over"
    if read_step(statement.commands[0]) is None:
        return "srun in another command is not taken over"
    return ""


def _shell_inside(step: SrunStep) -> str:
    """Return what a shell would replace in the words of srun; empty if nothing."""
    if not step.program:
        return "This srun names no program"
    for word in step.program:
        if word.expands or REFERENCE.search(word.value):
            return f"A shell replaces {word.text}, so this srun is not taken over"
    return ""


def _lost_options(step: SrunStep, allocation: JobAllocation) -> Iterator[str]:
    """Yield the options of srun that a workload does not have."""
    per_node, uneven = divmod(allocation.tasks, allocation.nodes)
    equal = {
        "ntasks": str(allocation.tasks),
        "nodes": str(allocation.nodes),
        "ntasks-per-node": "" if uneven else str(per_node),
        "cpus-per-task": str(allocation.cpus_per_task),
        "gpus-per-task": str(allocation.gpus_of_task),
        "export": "ALL",
        "mpi": "none",
        "label": "",
    }
    for name, value in step.options.items():
        if name not in WITHOUT_EFFECT and equal.get(name) != value:
            given = f"--{name}={value}" if value else f"--{name}"
            yield f"{given} of this srun would be lost"
    for option in step.unread:
        yield f"{option} of this srun is not understood"


def _take_setup(program: ConvertedProgram, statement: Statement) -> None:
    """Take a line before srun into the setup, or leave it out if Trainyard does the same."""
    if problem := _setup_problem(statement):
        program.refuse(statement.line, problem)
        return
    if reason := _reason_to_drop(statement):
        program.notes.append(Note(statement.line, reason))
        return
    program.setup.append(statement.text)
    for name in sorted(set(SLURM_VARIABLE.findall(statement.text))):
        program.notes.append(Note(statement.line, f"{name} only has a value on Slurm."))


def _setup_problem(statement: Statement) -> str:
    """Return why a line cannot be taken into the setup; empty if it can."""
    if not statement.is_complete:
        return "A quote or bracket of this line does not end"
    if statement.here_document_lines:
        return "A here-document is not taken over"
    if statement.depth_after:
        begins = [word for word in statement.reserved if word not in PREFIXES] or ["("]
        return f"{begins[0]!r}, which other lines continue, is not taken over"
    if "&" in statement.operators:
        return "A command in the background is not taken over"
    if POSITIONAL.search(statement.text) and "{" not in statement.reserved:
        return "A line with arguments of the script is not taken over"
    if statement.has_line_end:
        return "A command of several lines is not taken over"
    for command in commands_of(statement):
        if starter := _hidden_starter(command):
            return f"{starter}, which starts ranks, is not taken over in another command"
        if command.name in LAUNCHERS:
            return f"{command.name} starts its ranks itself, and is not taken over"
        if command.name in NOT_IN_SETUP:
            return f"{command.name} before srun is not taken over"
    return ""


def _hidden_starter(command: Command) -> str:
    """Return srun or a launcher in the arguments of another command, such as ``nohup srun``, or in
    a text that it may run; empty if there is none."""
    if command.name in {"echo", "printf"}:
        return ""
    for word in command.words[1:]:
        if match := STARTER.search(word.text):
            return match[0]
    return ""


def _reason_to_drop(statement: Statement) -> str:
    """Return why Trainyard does without a line; empty if it does not."""
    if not statement.is_simple:
        return ""
    (command,) = statement.commands
    assigned = {name for name, _ in assigned_values(command)}
    if command.name == "export":
        assigned |= {word.value for word in command.words[1:] if "=" not in word.value}
    elif command.words:
        return ""
    if not assigned or not assigned <= SET_BY_TRAINYARD:
        return ""
    if len(assigned) == 1:
        return f"Trainyard sets {assigned.pop()} itself, so this line is left out."
    return "Trainyard sets these variables itself, so this line is left out."


def _leave_out(program: ConvertedProgram, statement: Statement) -> None:
    """Leave out a line after srun that only prints or waits."""
    if statement.is_simple and statement.commands[0].name in WITHOUT_RESULT:
        program.notes.append(Note(statement.line, "What follows srun is left out."))
    else:
        program.refuse(statement.line, "What follows srun is not taken over")


def _main_line(statements: Sequence[Statement]) -> int:
    """Return the line that a reader takes for the program: a launcher, or the last command."""
    line = statements[-1].line if statements else 1
    for statement in statements:
        names = {command.name for command in commands_of(statement)}
        if names & LAUNCHERS:
            return statement.line
        if not names <= WITHOUT_RESULT:
            line = statement.line
    return line
