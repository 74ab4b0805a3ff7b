"""Answers about what was observed of a workload: its events and its pods."""

from datetime import datetime
from uuid import UUID

from ninja import Field

from core.rest.api import TENANT, Wire
from workloads.api.words import AnyPhase, EventType, RankPhaseWord, ReasonWord
from workloads.models import Event, Rank, Workload


class EventOut(Wire):
    id: str = Field(description="Its ID")
    cluster_id: UUID = Field(description="The ID of the cluster")
    created_at: datetime = Field(description="When it was created")
    type: EventType = Field(description="PhaseUpdate if it changed the phase")
    reason: ReasonWord = Field(description="Why, in one word; empty for no special reason")
    message: str = Field(
        description="What happened, in one sentence; empty if there is nothing to say"
    )
    source: str = Field(description="Which part of Trainyard or the cluster reports it")
    phase: AnyPhase = Field(description="The phase that it went to; empty for other events")
    actor: str = Field(description="The user who did it; empty if Trainyard or the cluster did it")

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
    name: str = Field(description="The name")
    image: str = Field(
        description="The container image, such as kubeflow/pytorch-dist-mnist:latest"
    )
    started_at: datetime | None = Field(description="When it started; null until then")


class PodOut(Wire):
    """``createdAt`` is when the workload was submitted; ``updatedAt`` and ``k8sPhaseUpdatedAt`` are
    when the pod last changed."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    workload_id: UUID = Field(description="The ID of the workload")
    workload_name: str = Field(description="The name of the workload")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")
    cluster_id: UUID = Field(description="The ID of the cluster")
    project_id: str = Field(description="The ID of the project")
    priority_class_name: str = Field(
        description="The priority of the workload; empty for the usual one"
    )
    containers: list[ContainerOut] = Field(description="The containers of the pod")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")
    k8s_phase_updated_at: datetime = Field(
        alias="k8sPhaseUpdatedAt", description="When the phase last changed"
    )
    role: str = Field(description="master, worker, or the name of another role")
    rank: int = Field(description="The number of the rank, counted from 0")
    index: int = Field(description="Its number among the pods of its role, counted from 0")
    node_name: str = Field(description="The node it runs on; empty until it has one")
    # Automatic naming would produce k8SPhase.
    k8s_phase: RankPhaseWord = Field(alias="k8sPhase", description="The phase of this rank")
    reason: ReasonWord = Field(description="Why, in one word; empty for no special reason")
    message: str = Field(description="What the cluster says about it; empty if nothing")
    restarts: int = Field(description="How many times it was started again")
    exit_code: int | None = Field(description="The exit code of its program; null while it runs")
    started_at: datetime | None = Field(description="When it started; null until then")
    completed_at: datetime | None = Field(description="When it ended; null until then")
    gpu_devices: list[int] = Field(description="The numbers of the GPUs on its node")

    @classmethod
    def of(cls, rank: Rank, workload: Workload) -> "PodOut":
        changed = rank.finished_at or rank.started_at or workload.phase_updated_at

        main = ContainerOut(name=rank.role, image=workload.image, started_at=rank.started_at)
        return cls(
            id=str(rank.pk),
            name=f"{workload.name}-{rank.name}",
            workload_id=workload.pk,
            workload_name=workload.name,
            cluster_id=workload.cluster_id,
            project_id=str(workload.project_id),
            priority_class_name=workload.priority,
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
