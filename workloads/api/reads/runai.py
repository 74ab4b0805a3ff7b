"""Workloads in the form that NVIDIA's Python client expects.

Its models have requests and limits where this API has had plain numbers since its first version,
and accept only two reasons of a phase. The client identifies itself, so only its answers differ.
"""

from typing import Any

from django.http import JsonResponse
from ninja.responses import NinjaJSONEncoder

from core.rest.api import Wire
from spec.formats.stored import as_mapping
from spec.parts.scheduling import Preemptibility
from spec.phases import Reason
from workloads.models import Workload

DONE_IN_PARTS = ("totalPendingTimeSeconds", "totalRunningTimeSeconds")


def workload_response(answer: Wire, workload: Workload) -> JsonResponse:
    """Return the answer about one workload, in the client's form."""
    return _json_response(_convert_workload(answer.model_dump(by_alias=True), workload))


def list_response(answer: Wire, page: list[Workload]) -> JsonResponse:
    """Return the answer with a page of workloads, in the client's form."""
    document = answer.model_dump(by_alias=True)
    pairs = zip(document["workloads"], page, strict=True)
    return _json_response(
        document | {"workloads": [_convert_workload(one, workload) for one, workload in pairs]}
    )


def _json_response(body: dict[str, Any]) -> JsonResponse:
    return JsonResponse(body, encoder=NinjaJSONEncoder)


def _convert_workload(document: dict[str, Any], workload: Workload) -> dict[str, Any]:
    """The answer in the client's form. It has no limits, as these belong to single pods in the
    spec. It has no conditions, as Trainyard keeps none. Kubernetes' phase is the workload's phase.
    """
    requested = document["workloadRequestedResources"]
    allocated = document["allocatedResources"]
    return document | {
        **{name: int(document[name]) for name in DONE_IN_PARTS},
        "workloadRequestedResources": {
            "gpu": {"request": requested["gpu"]},
            "cpu": {"request": requested["cpu"]},
            "cpuMemory": {"request": str(requested["cpuMemory"])},
        },
        "allocatedResources": allocated | {"cpuMemory": str(allocated["cpuMemory"])},
        "phaseReason": _reason(workload),
        "conditions": [],
        "k8sPhase": document["phase"],
        "k8sPhaseUpdatedAt": document["phaseUpdatedAt"],
    }


def _reason(workload: Workload) -> str | None:
    """Return the client's reason for a workload that waits for quota, else ``None``.
    ``phaseMessage`` has other reasons."""
    if workload.reason != Reason.WAITING_FOR_QUOTA:
        return None
    preemptibility = as_mapping(workload.spec_json).get("preemptibility")
    stays_within_quota = (Preemptibility.NON_PREEMPTIBLE, Preemptibility.SEMI_PREEMPTIBLE)
    return "NonPreemptibleOverQuota" if preemptibility in stays_within_quota else "OverLimit"
