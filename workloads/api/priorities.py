"""REST: which workloads of a project go first."""

from ninja import Router

from accounts.api.tokens import ApiRequest
from core.rest.api import Wire
from spec.parts.scheduling import PriorityClass

router = Router(tags=["Workloads"], by_alias=True)


class PriorityOut(Wire):
    """``name`` is what ``priorityClass`` of a spec says; the higher ``value`` goes first."""

    id: str
    name: str
    value: int


class PriorityList(Wire):
    priorities: list[PriorityOut]


@router.get("", response=PriorityList)
def list_workload_priorities(request: ApiRequest) -> PriorityList:
    """The priorities that a workload can have, the last first."""
    return PriorityList(
        priorities=[
            PriorityOut(id=it.value, name=it.value, value=it.value_on_cluster)
            for it in PriorityClass
        ]
    )
