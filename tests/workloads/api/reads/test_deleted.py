"""Deleted workloads over REST, as long as something is kept of them."""

import pytest
from django.utils import timezone

from projects.models import Project
from tests.caller import Caller
from tests.factories import WorkloadFactory
from workloads.models import Workload


@pytest.fixture
def deleted(project: Project) -> Workload:
    WorkloadFactory.create(project=project, name="there", running=True)
    return WorkloadFactory.create(
        project=project, name="gone", completed=True, deleted_at=timezone.now()
    )


def names(call: Caller, query: str = "") -> list[str]:
    status, answer = call("GET", f"/workloads{query}")
    assert status == 200, answer
    return [row["name"] for row in answer["workloads"]]


def test_deleted_workloads_are_listed_and_counted_when_asked_for(
    call: Caller, deleted: Workload
) -> None:
    assert names(call) == ["there"]
    assert names(call, "?deleted=true") == ["gone"]
    assert call("GET", "/workloads/count?deleted=true") == (200, {"count": 1})
    assert names(call, "?deleted=true&filterBy=name==there") == []


def test_deleted_workloads_can_be_read_but_not_acted_on(call: Caller, deleted: Workload) -> None:
    for part in ("", "/events", "/pods", "/logs"):
        assert call("GET", f"/workloads/{deleted.pk}{part}")[0] == 404, "unless it is asked for"
        status, answer = call("GET", f"/workloads/{deleted.pk}{part}?deleted=true")
        assert status == 200
        assert part or answer["deletedAt"]
    distributed = f"/workloads/distributed/{deleted.pk}"
    assert call("GET", distributed)[0] == 404
    assert call("POST", f"{distributed}/resume")[0] == 404
    assert call("DELETE", distributed)[0] == 404


def test_deleted_workloads_of_other_projects_stay_unseen(
    stranger: Caller, deleted: Workload
) -> None:
    assert names(stranger, "?deleted=true") == []
    assert stranger("GET", f"/workloads/{deleted.pk}?deleted=true")[0] == 404
    assert stranger("GET", f"/workloads/{deleted.pk}/logs?deleted=true")[0] == 404
