"""REST: submit a Slurm batch script as a distributed training."""

from functools import partial
from typing import Any, Self
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from clusters.models import Cluster
from core.rest.api import ApiError, Issue, StrictBody, Wire
from spec.imports.directives import Note
from spec.imports.sbatch import ImportedScript
from spec.parts.batch_script import LONGEST
from spec.problems.errors import SpecError
from workloads import services
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
from workloads.scripts.reading import read_script

router = Router(tags=["Distributed"])


class BatchScriptIn(StrictBody):
    """If ``name`` is empty, the script's name is used. ``spec`` overrides what the script says.
    ``asItStands`` false converts the script on a Slurm cluster too, where it otherwise runs
    unchanged."""

    name: str = Field(default="", description="The name")
    project_id: str = Field(description="The ID of the project")
    cluster_id: UUID = Field(description="The ID of the cluster")
    script: str = Field(
        min_length=1, max_length=LONGEST, description="The script as for sbatch, at most 64 KiB"
    )
    as_it_stands: bool | None = Field(
        default=None,
        description=(
            "true: Slurm runs the script itself; false: Trainyard runs the command that the "
            "script's srun starts. Always false on clusters without Slurm"
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
    workload: DistributedOut = Field(description="The workload")
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
    """Submit a batch script. On Slurm it runs unchanged; elsewhere the command in it runs, with a
    rank for each task. 400 lists every line that has to be changed first, such as ``script.13``,
    and every invalid field. With ``dryRun=true`` nothing is submitted and the answer is 200."""
    cluster = Cluster.objects.visible_to(request.user).filter(pk=body.cluster_id).first()
    script = read_script(body.script, cluster, as_it_stands=body.as_it_stands)
    if blocking := [note for note in script.notes if note.blocks]:
        issues = [Issue(field=f"script.{it.line}", details=it.text) for it in blocking]
        raise ApiError(
            400, CANNOT, details=f"{issues[0].field}: {issues[0].details}", issues=issues
        )
    creation = _convert_script(body, script)
    notes = [NoteOut.of(note) for note in script.notes]
    if query.dry_run:
        request_document = creation.model_dump(mode="json", by_alias=True, exclude_unset=True)
        draft = partial(draft_of, creation, by=request.user)
        rehearsal = check_request(creation, draft, by=request.user)
        return Status(
            200, BatchScriptDryRunOut(request=request_document, notes=notes, plan=rehearsal)
        )
    try:
        workload = services.submit(
            draft_of(creation, by=request.user), by=request.user, source=Source.API
        )
    except SpecError as error:
        raise submission_refusal(error, creation) from error
    return Status(202, BatchScriptOut(workload=DistributedOut.of(workload), notes=notes))


def _convert_script(body: BatchScriptIn, script: ImportedScript) -> DistributedIn:
    spec = script.spec | body.spec
    master = script.master(spec)
    request = {
        "name": body.name or script.name,
        "projectId": body.project_id,
        "clusterId": body.cluster_id,
        "noMaster": master is None,
        "spec": spec,
    }
    if master is not None:
        request["masterSpec"] = master
    return DistributedIn.model_validate(request)
