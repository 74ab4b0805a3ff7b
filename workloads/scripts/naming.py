"""Names of workloads that run batch scripts: typed by a person, or made from the script.

A name that comes from the script is changed until it is valid and free, with a note. A typed name
is never changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from uuid import uuid4

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.imports.directives import Note
from spec.imports.names import derive_name, numbered_name
from spec.imports.sbatch import ImportedScript
from spec.problems.errors import TAKEN, SpecError
from spec.values.names import longest_name
from workloads import services, submission
from workloads.models import Source, Workload

UNNAMED = "script"
LARGEST_NUMBER = 60_000_000  # numbers of arrays look like those of jobs
#: How often a submission looks for another name, while others take the free ones.
TRIES = 5


@dataclass(frozen=True)
class ScriptName:
    """The name of a workload, and the notes about how it differs from that of the job."""

    name: str
    notes: tuple[Note, ...] = ()
    is_typed: bool = False


def choose_name(
    script: ImportedScript, *, typed: str = "", file_name: str = "", project: Project | None = None
) -> ScriptName:
    """Return the typed name. Without one, return a free name made from the job's name, else from
    the name of the file."""
    if typed:
        return ScriptName(typed, _array_notes(script, typed), is_typed=True)
    longest = longest_name(script.allocation.tasks)
    indexes = script.array.indexes if script.array else ()
    longest -= len(f"-{max(indexes)}") if indexes else 0
    line = script.name_line or 1
    name = derive_name(script.job_name, longest=longest)
    notes = []
    if name and name != script.job_name:
        notes.append(Note(line, f"The job's name {script.job_name} becomes {name}."))
    if not name:
        name = derive_name(PurePath(file_name).stem, longest=longest) or UNNAMED
        lack = "The script has no --job-name"
        if script.job_name:
            lack = f"No name can be made from {script.job_name}"
        notes.append(Note(line, f"{lack}, so the workload is called {name}."))
    ends = [f"-{index}" for index in indexes] or [""]
    free = _free_name(name, ends, project, longest) if project else name
    if free != name:
        notes.append(Note(line, f"{name} already exists in {project}, so it is called {free}."))
    return ScriptName(free, (*notes, *_array_notes(script, free)))


def _array_notes(script: ImportedScript, name: str) -> tuple[Note, ...]:
    """Return what becomes of the elements of an array."""
    if script.array is None:
        return ()
    line = script.allocation.options["array"].line
    first = script.array.indexes[0]
    last = script.array.indexes[-1]
    text = f"Each of the {len(script.array.indexes)} elements is a workload of its own, "
    notes = [Note(line, f"{text}{name}-{first} to {name}-{last}.")]
    if script.array.at_once:
        text = f"At most {script.array.at_once} of them wait for room or run at once."
        notes.append(Note(line, text))
    return tuple(notes)


def _free_name(name: str, ends: Sequence[str], project: Project, longest: int) -> str:
    """Return the name, or the first numbered one, with which no workload of the project has a name
    that continues with one of the ends."""
    workloads = Workload.objects.filter(project=project, deleted_at=None)
    taken = set(
        workloads.filter(name__startswith=name[: longest - 6]).values_list("name", flat=True)
    )
    free = name
    number = 1
    while any(f"{free}{end}" in taken for end in ends):
        number += 1
        free = numbered_name(name, number, longest=longest)
    return free


def submit_named(
    script: ImportedScript,
    draft_of: Callable[[ImportedScript, str], WorkloadDraft],
    choose: Callable[[], ScriptName],
    *,
    by: User,
    source: Source,
) -> tuple[list[Workload], ScriptName]:
    """Submit the script with the chosen name, and return the workloads, one for each element of an
    array, and the name. If another submission takes a name that was made from the script, choose
    again. Raises ``SpecError``."""
    number = uuid4().int % LARGEST_NUMBER
    limit = {}
    if script.array and script.array.at_once:
        limit = {"array_number": number, "array_limit": script.array.at_once}
    attempt = 0
    while True:
        attempt += 1
        chosen = choose()
        drafts = [
            draft_of(element, f"{chosen.name}{end}") for end, element in script.elements(number)
        ]
        try:
            return _submit_all(drafts, by, source, limit), chosen
        except SpecError as error:
            rules = {(problem.path, problem.rule) for problem in error.problems}
            if chosen.is_typed or rules != {(("name",), TAKEN)} or attempt == TRIES:
                raise


def _submit_all(
    drafts: Sequence[WorkloadDraft], by: User, source: Source, limit: dict[str, int]
) -> list[Workload]:
    """Submit the drafts together. ``limit`` has the columns of an array with a limit."""
    if len(drafts) == 1:
        return [services.submit(drafts[0], by=by, source=source)]
    try:
        return submission.submit_all(drafts, by=by, source=source, **limit)
    except submission.BatchError as error:
        # The elements differ in a number, so they have the same problems.
        problems = {(it.path, it.rule): it for _, it in reversed(error.problems)}
        raise SpecError(list(problems.values())) from error
