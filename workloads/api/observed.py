"""Answers about what was observed of a workload: its events and its pods."""

from datetime import datetime
from uuid import UUID

from ninja import Field

from core.rest.api import TENANT, Wire
from spec.formats.stored import mapping
from workloads.api.words import AnyPhase, EventType, RankPhaseWord, ReasonWord, RoleWord
from workloads.models import Event, Rank, Workload


class EventOut(Wire):
    id: str
    cluster_id: UUID
    created_at: datetime
    type: EventType
    reason: ReasonWord
    message: str
    source: str
    phase: AnyPhase
    actor: str

    @classmethod
    def of(cls, event: Event) -> "EventOut":
        return cls(
            id=str(event.pk),
            cluster_id=event.workload.cluster_id,
            created_at=event.at,
            type="PhaseUpdate" if event.phase else "Event",
            reason=event.reason,
            message=event.message,
            source=event.source,
            phase=event.phase,
            actor=event.actor_name,
        )


class ContainerOut(Wire):
    name: str
    image: str
    started_at: datetime | None


class PodOut(Wire):
    """``createdAt`` is when the workload was submitted; ``updatedAt`` and ``k8sPhaseUpdatedAt`` are
    when the pod last changed."""

    id: str
    name: str
    workload_id: UUID
    workload_name: str
    tenant_id: int = TENANT
    cluster_id: UUID
    project_id: str
    priority_class_name: str
    containers: list[ContainerOut]
    created_at: datetime
    updated_at: datetime
    k8s_phase_updated_at: datetime = Field(alias="k8sPhaseUpdatedAt")
    role: RoleWord
    rank: int
    index: int
    node_name: str
    # Automatic naming would produce k8SPhase.
    k8s_phase: RankPhaseWord = Field(alias="k8sPhase")
    reason: ReasonWord
    message: str
    restarts: int
    exit_code: int | None
    started_at: datetime | None
    completed_at: datetime | None
    gpu_devices: list[int]

    @classmethod
    def of(cls, rank: Rank, workload: Workload) -> "PodOut":
        changed = rank.finished_at or rank.started_at or workload.phase_updated_at
        priority = mapping(workload.spec_json).get("priorityClass")
        main = ContainerOut(name=rank.role, image=workload.image, started_at=rank.started_at)
        return cls(
            id=str(rank.pk),
            name=f"{workload.name}-{rank.name}",
            workload_id=workload.pk,
            workload_name=workload.name,
            cluster_id=workload.cluster_id,
            project_id=str(workload.project_id),
            priority_class_name=str(priority or ""),
            containers=[main],
            created_at=workload.created_at,
            updated_at=changed,
            k8sPhaseUpdatedAt=changed,
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
