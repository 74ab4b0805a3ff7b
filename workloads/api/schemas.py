"""What the API says of workloads. Names are those of Run:ai's REST objects."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from ninja import Field
from pydantic import BeforeValidator

from core.api import Closed, Wire, words
from spec import documents
from spec.kind import WorkloadKind
from spec.phases import TOLD_TO_STOP, Phase, RankPhase, Reason
from spec.stored import mapping
from spec.workload import Role
from workloads.api.spec_schemas import MASTER_SPEC, spec_of
from workloads.api.why import CauseOut, FailureOut
from workloads.models import Event, Rank, Workload

MOST_IN_A_BATCH = 100
LABELS = [kind.traits.type for kind in WorkloadKind]

PhaseWord = Annotated[str, words(*Phase)]
ReasonWord = Annotated[str, words(*Reason)]
DesiredPhase = Annotated[str, words("Running", "Stopped", "Deleted")]
#: Run:ai's asset bodies have numbers where its workloads have texts.
ProjectId = Annotated[str, BeforeValidator(lambda it: str(it) if type(it) is int else it)]
DistributedDocument = Annotated[dict[str, Any], spec_of(WorkloadKind.DISTRIBUTED)]
OnePodDocument = Annotated[dict[str, Any], spec_of(WorkloadKind.TRAINING, WorkloadKind.WORKSPACE)]
MasterDocument = Annotated[dict[str, Any] | None, MASTER_SPEC]


class OnePodIn(Closed):
    """The creation request of a workload of one pod. ``spec`` is checked by the spec itself, field
    by field. What it leaves out is as the template of ``templateId`` has it, if that is given."""

    name: str
    use_given_name_as_prefix: bool = False
    project_id: ProjectId
    cluster_id: UUID
    template_id: UUID | None = None
    spec: OnePodDocument


class DistributedIn(OnePodIn):
    """The distributed creation request. ``spec`` is checked by the spec itself, field by field.

    ``noMaster`` is Trainyard's own: Run:ai's public request has no field for workers only.
    """

    spec: DistributedDocument
    master_spec_same_as_worker: bool | None = None
    master_spec: MasterDocument = None
    no_master: bool = False


class BatchIn(Closed):
    """Requests of one project; all of them become workloads, or none."""

    workloads: list[DistributedIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class OnePodBatchIn(Closed):
    """The same of one pod each."""

    workloads: list[OnePodIn] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class OnePodOut(Wire):
    """The value of a variable whose name looks like a secret's is ``***``. Sent back it is refused
    with the variable's name: send the value."""

    name: str
    requested_name: str
    workload_id: UUID
    project_id: str
    department_id: str
    cluster_id: UUID
    created_by: str
    created_at: datetime
    deleted_at: datetime | None
    desired_phase: DesiredPhase
    actual_phase: PhaseWord
    spec: OnePodDocument

    @classmethod
    def of(cls, workload: Workload) -> Self:
        document = documents.masked(workload.spec_json)
        return cls(**cls._more(document), **_heading(workload), spec=documents.to_wire(document))

    @classmethod
    def _more(cls, document: documents.Document) -> dict[str, Any]:
        """What only this kind says besides."""
        return {}


class DistributedOut(OnePodOut):
    spec: DistributedDocument
    master_spec_same_as_worker: bool
    master_spec: MasterDocument
    no_master: bool

    @classmethod
    def _more(cls, document: documents.Document) -> dict[str, Any]:
        return {
            "master_spec_same_as_worker": not document.get("master"),
            "master_spec": documents.master_to_wire(document),
            "no_master": document.get("architecture") == "workers_only",
        }


def _heading(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "requested_name": requested_name(workload),
        "workload_id": workload.pk,
        "project_id": str(workload.project_id),
        "department_id": str(workload.project.department_id),
        "cluster_id": workload.cluster_id,
        "created_by": author(workload),
        "created_at": workload.created_at,
        "deleted_at": workload.deleted_at,
        "desired_phase": desired_phase(workload),
        "actual_phase": workload.phase,
    }


class BatchOut(Wire):
    workloads: list[DistributedOut]


class OnePodBatchOut(Wire):
    workloads: list[OnePodOut]


def author(workload: Workload) -> str:
    return workload.created_by.username if workload.created_by else ""


def requested_name(workload: Workload) -> str:
    """Without what was added to a prefix."""
    asked = str(mapping(workload.draft_json).get("requestedName") or "")
    return asked if workload.name.startswith(f"{asked}-") and asked else workload.name


def desired_phase(workload: Workload) -> str:
    """What its user wants of it: Running, Stopped or Deleted."""
    if workload.deleted_at or workload.phase == Phase.DELETING:
        return "Deleted"
    return "Stopped" if workload.phase in TOLD_TO_STOP else "Running"


class Resources(Wire):
    """GPUs as a number, CPU in cores, memory in bytes."""

    gpu: float
    cpu: float
    cpu_memory: int


class Pods(Wire):
    number: int


class Actions(Wire):
    delete: bool
    suspend: bool
    resume: bool


class WorkloadOut(Wire):
    """``cause`` is why it waits, null if it waits for nothing."""

    id: UUID
    name: str
    type: Annotated[str, words(*LABELS)]
    cluster_id: UUID
    project_id: str
    project_name: str
    department_id: str
    submitted_by: str
    source: str
    created_at: datetime
    completed_at: datetime | None
    deleted_at: datetime | None
    phase: PhaseWord
    phase_message: str
    phase_reason: ReasonWord
    phase_updated_at: datetime
    failure: FailureOut | None
    cause: CauseOut | None
    requested_pods: Pods
    running_pods: int
    workload_requested_resources: Resources
    allocated_resources: Resources
    actions_support: Actions
    images: list[str]
    distributed_framework: str
    total_pending_time_seconds: float
    total_running_time_seconds: float
    run: int
    attempt: int
    last_metrics: dict[str, Any]

    @classmethod
    def of(cls, workload: Workload) -> Self:
        requested = Resources(
            gpu=workload.gpus, cpu=workload.cpu_cores, cpu_memory=workload.memory_bytes
        )
        nothing = Resources(gpu=0, cpu=0, cpu_memory=0)
        return cls(
            id=workload.pk,
            name=workload.name,
            type=WorkloadKind(workload.kind).traits.type,
            cluster_id=workload.cluster_id,
            project_id=str(workload.project_id),
            project_name=workload.project.name,
            department_id=str(workload.project.department_id),
            submitted_by=author(workload),
            source="Control-plane",
            created_at=workload.created_at,
            completed_at=workload.completed_at,
            deleted_at=workload.deleted_at,
            phase=workload.phase,
            phase_message=workload.message,
            phase_reason=workload.reason,
            phase_updated_at=workload.phase_updated_at,
            failure=FailureOut.of(workload),
            cause=CauseOut.of(workload),
            requested_pods=Pods(number=workload.num_pods),
            running_pods=workload.running_pods,
            workload_requested_resources=requested,
            allocated_resources=requested if workload.holds else nothing,
            actions_support=Actions(
                delete=workload.can_delete, suspend=workload.can_stop, resume=workload.can_run
            ),
            images=[workload.image] if workload.image else [],
            distributed_framework=workload.framework,
            total_pending_time_seconds=workload.pending_total,
            total_running_time_seconds=workload.running_total,
            run=workload.run,
            attempt=workload.attempt,
            last_metrics=workload.last_metrics,
        )


class EventOut(Wire):
    id: str
    created_at: datetime
    type: Annotated[str, words("PhaseUpdate", "Event")]
    reason: ReasonWord
    message: str
    source: str
    phase: Annotated[str, words("", *Phase)]
    actor: str

    @classmethod
    def of(cls, event: Event) -> "EventOut":
        return cls(
            id=str(event.pk),
            created_at=event.at,
            type="PhaseUpdate" if event.phase else "Event",
            reason=event.reason,
            message=event.message,
            source=event.source,
            phase=event.phase,
            actor=event.actor_name,
        )


class PodOut(Wire):
    id: str
    name: str
    workload_id: UUID
    role: Annotated[str, words(*Role)]
    rank: int
    index: int
    node_name: str
    # The rule for the others would say k8SPhase.
    k8s_phase: Annotated[str, words(*RankPhase)] = Field(alias="k8sPhase")
    reason: ReasonWord
    message: str
    restarts: int
    exit_code: int | None
    started_at: datetime | None
    completed_at: datetime | None
    gpu_devices: list[int]

    @classmethod
    def of(cls, rank: Rank, workload: Workload) -> "PodOut":
        return cls(
            id=str(rank.pk),
            name=f"{workload.name}-{rank.name}",
            workload_id=workload.pk,
            role=rank.role,
            rank=rank.rank,
            index=rank.index,
            node_name=rank.node,
            k8sPhase=rank.phase,
            reason=rank.reason,
            message=rank.message,
            restarts=rank.restarts,
            exit_code=rank.exit_code,
            started_at=rank.started_at,
            completed_at=rank.finished_at,
            gpu_devices=rank.gpu_devices,
        )
