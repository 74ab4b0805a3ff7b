"""Answers about workloads. Names are those of Run:ai's REST objects."""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from core.rest.api import TENANT, Wire
from spec.formats import documents
from spec.formats.stored import mapping
from spec.kind import WorkloadKind
from spec.parts.scheduling import PriorityClass
from spec.phases import TOLD_TO_STOP, Phase
from workloads.api.warnings import WarningOut, warnings_of
from workloads.api.why import CauseOut, FailureOut
from workloads.api.words import (
    DesiredPhase,
    DistributedDocument,
    FrameworkWord,
    MasterDocument,
    OnePodDocument,
    PhaseWord,
    ReasonWord,
    TypeWord,
)
from workloads.models import Workload


class OnePodOut(Wire):
    """A workload of one pod. If a variable's name looks like a secret's, its value is shown as
    ``***``. A request with that value is refused with the variable's name: send the real value."""

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
    warnings: list[WarningOut]

    @classmethod
    def of(cls, workload: Workload) -> Self:
        document = documents.masked(documents.ordered(workload.spec_json))
        return cls(**cls._more(document), **_heading(workload), spec=documents.to_wire(document))

    @classmethod
    def _more(cls, document: documents.Document) -> dict[str, Any]:
        """Additional fields of this kind."""
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
        "warnings": warnings_of(workload),
    }


class BatchOut(Wire):
    workloads: list[DistributedOut]


class OnePodBatchOut(Wire):
    workloads: list[OnePodOut]


def author(workload: Workload) -> str:
    return workload.created_by.username if workload.created_by else ""


def requested_name(workload: Workload) -> str:
    """The name as requested, without the suffix added to a prefix."""
    asked = str(mapping(workload.draft_json).get("requestedName") or "")
    return asked if workload.name.startswith(f"{asked}-") and asked else workload.name


def _whereabouts(workload: Workload) -> dict[str, Any]:
    """Where the workload is, with its priority and category."""
    stored, home = mapping(workload.spec_json), workload.project
    priority = str(stored.get("priorityClass") or "")
    return {
        "cluster_id": workload.cluster_id,
        "project_id": str(workload.project_id),
        "project_name": home.name,
        "department_id": str(home.department_id),
        "department_name": home.department.name,
        "namespace": workload.cluster.definition.namespace(workload.cluster, home.name),
        "priority": _value_of(priority),
        "priority_class_name": priority,
        "category": str(stored.get("category") or ""),
    }


def _value_of(priority: str) -> int | None:
    """The number of a priority class; ``None`` for the default, and for an unknown class."""
    if priority not in set(PriorityClass):
        return None
    return PriorityClass(priority).value_on_cluster


def desired_phase(workload: Workload) -> str:
    """The phase that its user wants: Running, Stopped or Deleted."""
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
    """``cause`` says why the workload waits; it is null if it does not. ``priority`` is the number
    of ``priorityClassName``, or null for the default."""

    id: UUID
    tenant_id: int = TENANT
    name: str
    type: TypeWord
    cluster_id: UUID
    project_id: str
    project_name: str
    department_id: str
    department_name: str
    namespace: str
    submitted_by: str
    source: str
    priority: int | None
    priority_class_name: str
    category: str
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
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
    distributed_framework: FrameworkWord
    total_pending_time_seconds: float
    total_running_time_seconds: float
    run: int
    attempt: int
    last_metrics: dict[str, Any]

    @classmethod
    def of(cls, workload: Workload) -> Self:
        nothing = Resources(gpu=0, cpu=0, cpu_memory=0)
        requested = Resources(
            gpu=workload.gpus, cpu=workload.cpu_cores, cpu_memory=workload.memory_bytes
        )
        return cls(
            **_whereabouts(workload),
            id=workload.pk,
            name=workload.name,
            type=WorkloadKind(workload.kind).traits.type,
            submitted_by=author(workload),
            source="Control-plane",
            created_at=workload.created_at,
            updated_at=workload.phase_updated_at,
            started_at=workload.started_at,
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
