"""Answers about workloads. Names are those of Run:ai's REST objects."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.http import HttpRequest
from pydantic import Field

from core.rest.api import TENANT, Wire
from spec.formats import documents
from spec.formats.stored import as_mapping
from spec.kind import WorkloadKind
from spec.parts.scheduling import PriorityClass
from spec.phases import STOP_REQUESTED, Phase
from workloads.api.warnings import WarningOut, warnings_of
from workloads.api.whereabouts import read_nodes, service_urls
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
from workloads.scheduling.limits import rule_limits


class OnePodOut(Wire):
    """A workload of one pod. If a variable's name looks like a secret's, its value is shown as
    ``***``. A request with that value is refused with the variable's name: send the real value."""

    name: str = Field(description="The name")
    requested_name: str = Field(
        description="The name in the request, without the suffix that was added to a prefix"
    )
    workload_id: UUID = Field(description="The ID of the workload")
    project_id: str = Field(description="The ID of the project")
    department_id: str = Field(description="The ID of the department")
    cluster_id: UUID = Field(description="The ID of the cluster")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    deleted_at: datetime | None = Field(description="When it was deleted; null unless it was")
    desired_phase: DesiredPhase = Field(
        description="The phase that its user asked for: Running, Stopped or Deleted"
    )
    actual_phase: PhaseWord = Field(description="The phase it is in")
    spec: OnePodDocument = Field(description="The specification")
    warnings: list[WarningOut] = Field(
        description=(
            "Parts of the request that have no effect on the cluster, need something that does not "
            "exist yet, or can be opened by more people than it seems"
        )
    )

    @classmethod
    def of(cls, workload: Workload) -> Self:
        document = documents.mask_secret_values(documents.order_keys(workload.spec_json))
        return cls(
            **cls._kind_fields(document),
            **_common_fields(workload),
            spec=documents.to_wire(document),
        )

    @classmethod
    def _kind_fields(cls, document: documents.Document) -> dict[str, Any]:
        """Additional fields of this kind."""
        return {}


class DistributedOut(OnePodOut):
    spec: DistributedDocument = Field(description="The specification")
    master_spec_same_as_worker: bool = Field(
        description="Whether the master has the workers' setup"
    )
    master_spec: MasterDocument = Field(
        description="What differs for the master's pod; null if nothing differs from the workers"
    )
    no_master: bool = Field(description="true for workers only")

    @classmethod
    def _kind_fields(cls, document: documents.Document) -> dict[str, Any]:
        return {
            "master_spec_same_as_worker": not document.get("master"),
            "master_spec": documents.master_to_wire(document),
            "no_master": document.get("architecture") == "workers_only",
        }


def _common_fields(workload: Workload) -> dict[str, Any]:
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
    workloads: list[DistributedOut] = Field(description="The workloads")


class OnePodBatchOut(Wire):
    workloads: list[OnePodOut] = Field(description="The workloads")


def author(workload: Workload) -> str:
    return workload.created_by.username if workload.created_by else ""


def requested_name(workload: Workload) -> str:
    """Return the name as requested, without the suffix that was added to a prefix."""
    requested = str(as_mapping(workload.draft_json).get("requestedName") or "")
    is_prefix = requested and workload.name.startswith(f"{requested}-")
    return requested if is_prefix else workload.name


def _scope_fields(workload: Workload) -> dict[str, Any]:
    """Return where the workload belongs, with its priority and category."""
    project = workload.project
    return {
        "cluster_id": workload.cluster_id,
        "project_id": str(workload.project_id),
        "project_name": project.name,
        "department_id": str(project.department_id),
        "department_name": project.department.name,
        "namespace": workload.cluster.definition.namespace(workload.cluster, project.name),
        "priority": _priority_value(workload.priority),
        "priority_class_name": workload.priority,
        "category": workload.category,
    }


def _priority_value(priority: str) -> int | None:
    """Return the number of a priority class; ``None`` for the default, and for an unknown class."""
    if priority not in set(PriorityClass):
        return None
    return PriorityClass(priority).value_on_cluster


def desired_phase(workload: Workload) -> str:
    """Return the phase that the user asked for: Running, Stopped or Deleted."""
    if workload.deleted_at or workload.phase == Phase.DELETING:
        return "Deleted"
    return "Stopped" if workload.phase in STOP_REQUESTED else "Running"


class Resources(Wire):
    """GPUs as a number, CPU in cores, memory in bytes."""

    gpu: float = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: float = Field(description="CPU, in cores")
    cpu_memory: int = Field(description="Memory, in bytes")


class Pods(Wire):
    number: int = Field(description="How many")


class Actions(Wire):
    delete: bool = Field(description="Whether it can be deleted")
    suspend: bool = Field(description="Whether it can be stopped")
    resume: bool = Field(description="Whether it can be resumed")


class CheckpointOut(Wire):
    """The last checkpoint that the training reported."""

    run: int = Field(description="The run that saved it, counted from 1")
    step: int = Field(description="The step that it is of")
    saved_at: datetime = Field(description="When it was saved")
    size_bytes: int | None = Field(description="Its size in bytes; null if it was not reported")
    seconds_at_risk: float | None = Field(
        description="How long the workload has run since without saving; null while it does not run"
    )

    @classmethod
    def of(cls, workload: Workload) -> Self | None:
        saved = workload.last_checkpoint
        if saved is None:
            return None
        return cls(
            run=saved.run,
            step=saved.step,
            saved_at=saved.at,
            size_bytes=saved.size,
            seconds_at_risk=workload.seconds_at_risk,
        )


class RuleLimits(Wire):
    """Limits from scheduling rules, in seconds; null for none."""

    time_limit_seconds: int | None = Field(description="How long it may run")
    time_limit_source: str = Field(description="Whose rule that is, such as department research")
    time_limit_extended_seconds: int | None = Field(
        description="What its owner may extend it to now; null if that is not possible"
    )
    idle_gpu_limit_seconds: int | None = Field(description="How long its GPUs may be idle")
    idle_gpu_limit_source: str = Field(description="Whose rule that is")
    idle_gpu_limit_extended_seconds: int | None = Field(
        description="What its owner may extend it to now; null if that is not possible"
    )

    @classmethod
    def of(cls, workload: Workload) -> Self:
        extended = rule_limits.extended_limits(workload)
        return cls(
            time_limit_seconds=workload.rule_time_limit_seconds,
            time_limit_source=rule_limits.source_of(workload, rule_limits.TIME),
            time_limit_extended_seconds=extended.get(rule_limits.TIME),
            idle_gpu_limit_seconds=workload.idle_gpu_limit_seconds,
            idle_gpu_limit_source=rule_limits.source_of(workload, rule_limits.IDLE),
            idle_gpu_limit_extended_seconds=extended.get(rule_limits.IDLE),
        )


class WorkloadOut(Wire):
    """``cause`` says why the workload waits; it is null if it does not. ``priority`` is the number
    of ``priorityClassName``, or null for the default."""

    id: UUID = Field(description="Its ID")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")
    name: str = Field(description="The name")
    type: TypeWord = Field(description="Which kind of workload it is")
    cluster_id: UUID = Field(description="The ID of the cluster")
    project_id: str = Field(description="The ID of the project")
    project_name: str = Field(description="The name of the project")
    department_id: str = Field(description="The ID of the department")
    department_name: str = Field(description="The name of the department")
    namespace: str = Field(
        description="Kubernetes: the namespace of its pods; empty on other clusters"
    )
    submitted_by: str = Field(description="The username of the person who submitted it")
    source: str = Field(description="Always Control-plane")
    priority: int | None = Field(
        description="The number of its priority, the higher first; null for the usual one"
    )
    priority_class_name: str = Field(
        description="The priority of the workload; empty for the usual one"
    )
    category: str = Field(description="Its category; empty if it has none")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When its phase last changed")
    started_at: datetime | None = Field(description="When it started; null until then")
    completed_at: datetime | None = Field(description="When it ended; null until then")
    deleted_at: datetime | None = Field(description="When it was deleted; null unless it was")
    phase: PhaseWord = Field(description="The phase it is in")
    phase_message: str = Field(description="What it says about its phase; empty if nothing")
    phase_reason: ReasonWord = Field(
        description="Why it is in this phase, in one word; empty for no special reason"
    )
    phase_updated_at: datetime = Field(description="When the phase last changed")
    failure: FailureOut | None = Field(
        description="Why it failed; null if its log does not show it"
    )
    cause: CauseOut | None = Field(description="Why it waits; null if it waits for nothing")
    requested_pods: Pods = Field(description="How many pods it has")
    running_pods: int = Field(description="How many pods run now")
    workload_requested_resources: Resources = Field(
        description="What all its pods together request"
    )
    allocated_resources: Resources = Field(
        description="What all its pods together use now; zeros while it uses nothing"
    )
    actions_support: Actions = Field(description="Which calls are allowed now")
    images: list[str] = Field(description="The images of its pods")
    nodes: list[str] = Field(
        description="The nodes that its pods run on, or last ran on; empty until they have one"
    )
    urls: list[str] = Field(
        description="Where its tools are opened in a browser, and its external pages"
    )
    distributed_framework: FrameworkWord = Field(
        description="The framework; empty for workloads of one pod"
    )
    total_pending_time_seconds: float = Field(
        description="How long it waited in all attempts together"
    )
    total_running_time_seconds: float = Field(
        description="How long it ran in all attempts together"
    )
    rule_limits: RuleLimits = Field(
        description="Its limits from scheduling rules, as they were at its submission"
    )
    run: int = Field(description="The number of the run, counted from 1")
    attempt: int = Field(description="Which start of all ranks within the run, counted from 1")
    last_metrics: dict[str, Any] = Field(
        description="What the training last reported, by name; NaN, Infinity and -Infinity as text"
    )

    last_checkpoint: CheckpointOut | None = Field(
        description="The last checkpoint that the training reported; null if it reported none"
    )

    @classmethod
    def list_of(cls, workloads: Sequence[Workload], request: HttpRequest) -> list[Self]:
        """Return the answers about several workloads, in the same order."""
        nodes = read_nodes(workloads)
        return [
            cls.of(row, nodes=nodes[row.pk], urls=service_urls(row, request)) for row in workloads
        ]

    @classmethod
    def of(cls, workload: Workload, *, nodes: list[str], urls: list[str]) -> Self:
        nothing = Resources(gpu=0, cpu=0, cpu_memory=0)
        requested = Resources(
            gpu=workload.gpus, cpu=workload.cpu_cores, cpu_memory=workload.memory_bytes
        )
        return cls(
            **_scope_fields(workload),
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
            allocated_resources=requested if workload.holds_resources else nothing,
            actions_support=Actions(
                delete=workload.can_delete, suspend=workload.can_stop, resume=workload.can_run
            ),
            images=[workload.image] if workload.image else [],
            nodes=nodes,
            urls=urls,
            distributed_framework=workload.framework,
            total_pending_time_seconds=workload.pending_total,
            total_running_time_seconds=workload.running_total,
            rule_limits=RuleLimits.of(workload),
            run=workload.run,
            attempt=workload.attempt + 1,
            last_metrics=workload.last_metrics,
            last_checkpoint=CheckpointOut.of(workload),
        )
