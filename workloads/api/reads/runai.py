"""Workloads for NVIDIA's Python client, whose models refuse what other programs know.

Its models have requests and limits where this API has had numbers since its first version, and take
two reasons of a phase only. The client says who it is, so it gets what it can read; nobody else's
answer changes.
"""

from typing import Any

from django.http import HttpRequest, JsonResponse
from ninja.responses import NinjaJSONEncoder

from core.rest.api import Wire
from spec.formats.stored import mapping
from spec.parts.scheduling import Preemptibility
from spec.phases import Reason
from workloads.models import Workload

AGENT = "runai-api-client"  # how its User-Agent begins
DONE_IN_PARTS = ("totalPendingTimeSeconds", "totalRunningTimeSeconds")


def asks(request: HttpRequest) -> bool:
    return request.headers.get("User-Agent", "").startswith(AGENT)


def read(answer: Wire, workload: Workload) -> JsonResponse:
    return _json(_shaped(answer.model_dump(by_alias=True), workload))


def listed(answer: Wire, page: list[Workload]) -> JsonResponse:
    whole = answer.model_dump(by_alias=True)
    pairs = zip(whole["workloads"], page, strict=True)
    return _json(whole | {"workloads": [_shaped(one, workload) for one, workload in pairs]})


def _json(body: dict[str, Any]) -> JsonResponse:
    return JsonResponse(body, encoder=NinjaJSONEncoder)


def _shaped(one: dict[str, Any], workload: Workload) -> dict[str, Any]:
    """Of limits it has none: they are those of a pod, in the spec. Trainyard keeps no conditions,
    and what Kubernetes would call the phase is the phase."""
    requested, allocated = one["workloadRequestedResources"], one["allocatedResources"]
    return one | {
        **{name: int(one[name]) for name in DONE_IN_PARTS},
        "workloadRequestedResources": {
            "gpu": {"request": requested["gpu"]},
            "cpu": {"request": requested["cpu"]},
            "cpuMemory": {"request": str(requested["cpuMemory"])},
        },
        "allocatedResources": allocated | {"cpuMemory": str(allocated["cpuMemory"])},
        "phaseReason": _reason(workload),
        "conditions": [],
        "k8sPhase": one["phase"],
        "k8sPhaseUpdatedAt": one["phaseUpdatedAt"],
    }


def _reason(workload: Workload) -> str | None:
    """Their two words for a wait for quota. ``phaseMessage`` tells the others."""
    if workload.reason != Reason.WAITING_FOR_QUOTA:
        return None
    wished = mapping(workload.spec_json).get("preemptibility")
    return "NonPreemptibleOverQuota" if wished == Preemptibility.NON_PREEMPTIBLE else "OverLimit"
