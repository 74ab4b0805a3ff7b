"""Names of workloads that run batch scripts: typed by a person, or made from the script.

A name that comes from the script is changed until it is valid and free, with a note. A typed name
is never changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from accounts.models import User
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.imports.directives import Note
from spec.imports.names import derive_name, numbered_name
from spec.imports.sbatch import ImportedScript
from spec.problems.errors import TAKEN, SpecError
from spec.values.names import longest_name
from workloads import services
from workloads.models import Source, Workload

UNNAMED = "script"
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
        return ScriptName(typed, is_typed=True)
    longest = longest_name(script.allocation.tasks)
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
    free = _free_name(name, project, longest) if project else name
    if free != name:
        notes.append(Note(line, f"{name} already exists in {project}, so it is called {free}."))
    return ScriptName(free, tuple(notes))


def _free_name(name: str, project: Project, longest: int) -> str:
    """Return the name, or the first numbered one that no workload of the project has."""
    workloads = Workload.objects.filter(project=project, deleted_at=None)
    taken = set(
        workloads.filter(name__startswith=name[: longest - 6]).values_list("name", flat=True)
    )
    free = name
    number = 1
    while free in taken:
        number += 1
        free = numbered_name(name, number, longest=longest)
    return free


def submit_named(
    draft_of: Callable[[str], WorkloadDraft],
    choose: Callable[[], ScriptName],
    *,
    by: User,
    source: Source,
) -> tuple[Workload, ScriptName]:
    """Submit the draft with the chosen name, and return both. If another submission takes a name
    that was made from the script, choose again. Raises ``SpecError``."""
    for attempt in range(1, TRIES + 1):
        chosen = choose()
        try:
            return services.submit(draft_of(chosen.name), by=by, source=source), chosen
        except SpecError as error:
            rules = {(problem.path, problem.rule) for problem in error.problems}
            if chosen.is_typed or rules != {(("name",), TAKEN)} or attempt == TRIES:
                raise
    raise AssertionError("the last attempt returns or raises")
