"""REST: submit a Slurm batch script as a distributed training."""

from functools import partial
from typing import Any, Self
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from clusters.models import Cluster
from core.rest.api import ApiError, Issue, StrictBody, Wire
from core.web.query import parse_number
from projects.models import Project
from spec.imports.directives import Note
from spec.imports.sbatch import ImportedScript
from spec.parts.batch_script import LONGEST
from spec.problems.errors import SpecError
from workloads.api.bodies import DistributedIn
from workloads.api.schemas import DistributedOut
from workloads.api.submissions.distributed import (
    CANNOT,
    check_request,
    draft_of,
    submission_refusal,
)
from workloads.api.submissions.dry_run import DryRun, DryRunOut
from workloads.models import Source
from workloads.scripts.naming import ScriptName, choose_name, submit_named
from workloads.scripts.reading import read_script

MOST_ARGUMENTS = 1000

router = Router(tags=["Distributed"])


class BatchScriptIn(StrictBody):
    """If ``name`` is empty, a free name comes from the script, or from ``fileName``. ``spec``
    overrides what the script says. ``asItStands`` false converts the script where it otherwise runs
    unchanged."""

    name: str = Field(default="", description="The name")
    file_name: str = Field(
        default="",
        max_length=255,
        description="The name of the script's file, for a script without a job name",
    )
    project_id: str = Field(description="The ID of the project")
    cluster_id: UUID = Field(description="The ID of the cluster")
    script: str = Field(
        min_length=1, max_length=LONGEST, description="The script as for sbatch, at most 32 KiB"
    )
    arguments: list[str] = Field(
        default_factory=list,
        max_length=MOST_ARGUMENTS,
        description="The arguments of the script, if it runs unchanged",
    )
    as_it_stands: bool | None = Field(
        default=None,
        description=(
            "true: the script itself runs; false: Trainyard runs the command that the script's "
            "srun starts. By default the script runs where the cluster can run batch scripts"
        ),
    )
    spec: dict[str, Any] = Field(default_factory=dict, description="The specification")


class NoteOut(Wire):
    """A line of the script that has another effect here, and that effect."""

    line: int = Field(description="The number of the line")
    text: str = Field(description="What Trainyard made of it")

    @classmethod
    def of(cls, note: Note) -> Self:
        return cls(line=note.line, text=note.text)


class BatchScriptOut(Wire):
    workload: DistributedOut = Field(description="The workload, the first one of a job array")
    workloads: list[DistributedOut] = Field(
        description="All workloads: one for each element of a job array, else one"
    )
    notes: list[NoteOut] = Field(
        description="The lines of the script that mean something else in Trainyard or are ignored"
    )


class BatchScriptDryRunOut(Wire):
    """``request`` is the equivalent request to ``POST /workloads/distributed``."""

    request: dict[str, Any] = Field(
        description="The equivalent request for POST /workloads/distributed"
    )
    notes: list[NoteOut] = Field(
        description="The lines of the script that mean something else in Trainyard or are ignored"
    )
    plan: DryRunOut = Field(
        description=(
            "What would become of the request: its spec, what is wrong, and whether it would start"
        )
    )


@router.post(
    "/from-sbatch",
    response={200: BatchScriptDryRunOut, 202: BatchScriptOut},
    by_alias=True,
    operation_id="create_from_batch_script",
)
def from_sbatch(
    request: ApiRequest, body: BatchScriptIn, query: Query[DryRun]
) -> Status[BatchScriptDryRunOut] | Status[BatchScriptOut]:
    """Submit a batch script. On Slurm and on this machine it runs unchanged; on Kubernetes the
    command in it runs, with a rank for each task. 400 lists every line that has to be changed
    first, such as ``script.13``, and every invalid field. With ``dryRun=true`` nothing is submitted
    and the answer is 200."""
    cluster = Cluster.objects.visible_to(request.user).filter(pk=body.cluster_id).first()
    script = read_script(
        body.script, cluster, as_it_stands=body.as_it_stands, arguments=body.arguments
    )
    if blocking := [note for note in script.notes if note.blocks]:
        issues = [Issue(field=f"script.{it.line}", details=it.text) for it in blocking]
        raise ApiError(
            400, CANNOT, details=f"{issues[0].field}: {issues[0].details}", issues=issues
        )
    choose = partial(_choose_name, body, script, by=request.user)
    if query.dry_run:
        chosen = choose()
        creation = _convert_first(body, script, chosen.name)
        request_document = creation.model_dump(mode="json", by_alias=True, exclude_unset=True)
        draft = partial(draft_of, creation, by=request.user)
        rehearsal = check_request(creation, draft, by=request.user)
        return Status(
            200,
            BatchScriptDryRunOut(
                request=request_document, notes=_all_notes(script, chosen), plan=rehearsal
            ),
        )
    try:
        workloads, chosen = submit_named(
            script,
            lambda element, name: draft_of(_convert_script(body, element, name), by=request.user),
            choose,
            by=request.user,
            source=Source.API,
        )
    except SpecError as error:
        creation = _convert_first(body, script, choose().name)
        raise submission_refusal(error, creation) from error
    created = [DistributedOut.of(workload) for workload in workloads]
    notes = _all_notes(script, chosen)
    return Status(202, BatchScriptOut(workload=created[0], workloads=created, notes=notes))


def _choose_name(body: BatchScriptIn, script: ImportedScript, *, by: User) -> ScriptName:
    pk = parse_number(body.project_id)
    project = None
    if pk is not None:
        project = Project.objects.visible_to(by).filter(pk=pk).first()
    return choose_name(script, typed=body.name, file_name=body.file_name, project=project)


def _all_notes(script: ImportedScript, chosen: ScriptName) -> list[NoteOut]:
    notes = sorted([*script.notes, *chosen.notes], key=lambda note: note.line)
    return [NoteOut.of(note) for note in notes]


def _convert_first(body: BatchScriptIn, script: ImportedScript, name: str) -> DistributedIn:
    """Return the request for the first element of an array, or for the script itself."""
    end, element = next(script.elements(0))
    return _convert_script(body, element, f"{name}{end}")


def _convert_script(body: BatchScriptIn, script: ImportedScript, name: str) -> DistributedIn:
    variables = [
        *script.spec.get("environmentVariables", ()),
        *body.spec.get("environmentVariables", ()),
    ]
    spec = script.spec | body.spec
    if variables:
        spec["environmentVariables"] = variables
    master = script.master(spec)
    request = {
        "name": name,
        "projectId": body.project_id,
        "clusterId": body.cluster_id,
        "noMaster": master is None,
        "spec": spec,
    }
    if master is not None:
        request["masterSpec"] = master
    return DistributedIn.model_validate(request)
