"""The fields by which the list of workloads is filtered, sorted and searched."""

from collections.abc import Iterable

from django.db.models import Case, Q, Value, When

from core.rest import filters
from core.rest.filters import DATE, ID, NUMBER, TEXT, ListOfNames, word_choices
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.parts.scheduling import PriorityClass
from spec.phases import HOLDING_RESOURCES, Phase, Reason
from workloads.diagnosis import BY_ID
from workloads.models import WorkloadQuerySet

#: Phases of Run:ai that no workload of Trainyard is in. Programs may filter by them nevertheless.
PHASES_OF_RUNAI = ("Updating", "Terminating")
ALLOCATED_GPUS = "allocated_gpus"  # annotated: those that a workload holds now
FIELDS: filters.Fields = {
    "id": ("id", ID),
    "name": ("name", TEXT),
    "type": ("kind", {kind.traits.type: kind.value for kind in WorkloadKind}),
    "phase": ("phase", word_choices((*Phase, *PHASES_OF_RUNAI))),
    "phaseReason": ("reason", word_choices(Reason)),
    "failureClass": ("failure_class", word_choices(("", *BY_ID))),
    "projectId": ("project_id", NUMBER),
    "projectName": ("project__name", TEXT),
    "departmentId": ("project__department_id", NUMBER),
    "departmentName": ("project__department__name", TEXT),
    "clusterId": ("cluster_id", ID),
    "clusterName": ("cluster__name", TEXT),
    "nodePool": ("spec_json__nodePools", ListOfNames),
    "category": ("spec_json__category", TEXT),
    "priorityClassName": ("spec_json__priorityClass", word_choices(PriorityClass)),
    "template": ("template__name", TEXT),
    "deletedAt": ("deleted_at", DATE),
    "submittedBy": ("created_by__username", TEXT),
    "distributedFramework": ("framework", word_choices(Framework)),
    "images": ("image", TEXT),
    "createdAt": ("created_at", DATE),
    "completedAt": ("completed_at", DATE),
    "phaseUpdatedAt": ("phase_updated_at", DATE),
    "requestedPods": ("num_pods", NUMBER),
    "runningPods": ("running_pods", NUMBER),
    "requestedGPU": ("gpus", NUMBER),
    "allocatedGPU": (ALLOCATED_GPUS, NUMBER),
    "totalPendingTimeSeconds": ("pending_seconds", NUMBER),
    "totalRunningTimeSeconds": ("running_seconds", NUMBER),
}


def filter_workloads(rows: WorkloadQuerySet, given: Iterable[str], search: str) -> WorkloadQuerySet:
    """Return the rows that match every filter and the search. ``ApiError`` 400 if a filter is
    invalid."""
    held = Case(When(phase__in=HOLDING_RESOURCES, then="gpus"), default=Value(0.0))
    rows = filters.filter_queryset(rows.annotate(**{ALLOCATED_GPUS: held}), given, FIELDS)
    if search:
        matches = Q(name__icontains=search) | Q(image__icontains=search)
        rows = rows.filter(matches | Q(created_by__username__icontains=search))
    return rows
