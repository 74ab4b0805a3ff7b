"""Many distributed trainings in one call: all of them or none."""

from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from projects.models import Project
from spec.phases import Phase
from tests.caller import Body, Caller
from tests.factories import ProjectFactory, WorkloadFactory, remove_members
from workloads import submission
from workloads.models import Event, Workload

PATH = "/workloads/distributed/batch-create"


def sweep(seed_body: Body, *names: str, **changes: dict[str, Any]) -> dict[str, Any]:
    """A request of these names; ``changes`` are of the one of that name."""
    return {"workloads": [seed_body(name=name, **changes.get(name, {})) for name in names]}


def issues(answer: Any) -> dict[str, str]:
    return {issue["field"]: issue["details"] for issue in answer["complianceIssues"]}


def test_each_request_of_a_batch_becomes_a_workload(
    call: Caller, seed_body: Body, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    names = [f"sweep-{n}" for n in range(20)]
    with django_assert_max_num_queries(40):  # a call of each takes more than two hundred
        status, answer = call("POST", PATH, sweep(seed_body, *names))
    assert status == 202, answer
    assert [made["name"] for made in answer["workloads"]] == names
    first = Workload.objects.get(pk=answer["workloads"][0]["workloadId"])
    assert [rank.name for rank in first.ranks.all()] == ["master-0", "worker-0", "worker-1"]
    assert (first.gpus, first.source, first.phase) == (0.3, "api", Phase.CREATING)
    events = Event.objects.filter(verb="submit", actor=call.user)
    assert events.values("workload").distinct().count() == len(names)


def test_a_batch_names_what_is_wrong_by_its_place_and_creates_nothing(
    call: Caller, seed_body: Body
) -> None:
    body = sweep(
        seed_body,
        "a",
        "b",
        "Upper",
        "d",
        b={"spec": {"image": "a b", "numWorkers": 1, "distributedFramework": "PyTorch"}},
        d={"masterSpec": {"image": "a b"}},
    )
    status, answer = call("POST", PATH, body)
    assert status == 400
    found = issues(answer)
    assert set(found) == {
        "workloads.1.spec.image",
        "workloads.2.name",
        "workloads.3.masterSpec.image",
    }
    assert "lower-case" in found["workloads.2.name"]
    assert not Workload.objects.exists()


def test_a_batch_names_a_request_that_is_no_draft_by_its_place(
    call: Caller, seed_body: Body
) -> None:
    body = sweep(
        seed_body,
        "a",
        "b",
        "c",
        a={"projectId": "none"},
        b={"spec": {"image": "a b", "distributedFramework": "PyTorch"}},
        c={"masterSpec": {"image": "a"}, "noMaster": True},
    )
    status, answer = call("POST", PATH, body)
    assert status == 400
    found = issues(answer)
    assert "not an image URL" in found["workloads.1.spec.image"]
    assert "not the ID of a project" in found["workloads.0.projectId"]
    assert "leave it out" in found["workloads.2.masterSpec"]
    assert answer["message"].endswith("none was created.")


def test_a_taken_name_keeps_a_whole_batch_back(
    call: Caller, seed_body: Body, project: Project
) -> None:
    WorkloadFactory.create(project=project, name="b")
    status, answer = call("POST", PATH, sweep(seed_body, "a", "b", "c"))
    assert status == 409
    assert "different name" in issues(answer)["workloads.1.name"]
    assert Workload.objects.count() == 1


def test_the_same_request_twice_makes_one_batch(call: Caller, seed_body: Body) -> None:
    body = sweep(seed_body, "b", "a")
    assert call("POST", PATH, body)[0] == 202
    status, answer = call("POST", PATH, body)
    assert status == 409
    assert set(issues(answer)) == {"workloads.0.name", "workloads.1.name"}
    assert Workload.objects.count() == Event.objects.count() == 2


def test_workloads_of_a_batch_queue_in_their_order(call: Caller, seed_body: Body) -> None:
    """PostgreSQL holds a name from its insertion on: two batches in other orders would deadlock."""
    names = ["medium", "slow", "fast"]
    with CaptureQueriesContext(connection) as asked:
        _, answer = call("POST", PATH, sweep(seed_body, *names))
    assert [made["name"] for made in answer["workloads"]] == names
    queued = Workload.objects.order_by("queued_at").values_list("name", flat=True)
    assert list(queued) == names
    insertion = next(
        query["sql"]
        for query in asked.captured_queries
        if query["sql"].startswith('INSERT INTO "workloads_workload"')
    )
    places = [insertion.index(name) for name in sorted(names)]
    assert places == sorted(places)


def test_no_two_of_a_batch_have_one_name(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", PATH, sweep(seed_body, "a", "b", "a"))
    assert status == 400
    assert set(issues(answer)) == {"workloads.0.name", "workloads.2.name"}
    body = {"workloads": [seed_body(useGivenNameAsPrefix=True)] * 2}
    status, answer = call("POST", PATH, body)
    assert status == 202, answer


def test_a_batch_goes_into_one_project(call: Caller, seed_body: Body, project: Project) -> None:
    other = ProjectFactory.create(cluster=project.cluster, members=[call.user])
    body = sweep(seed_body, "a", "b", b={"projectId": str(other.pk)})
    status, answer = call("POST", PATH, body)
    assert status == 400
    assert issues(answer) == {
        "workloads.1.projectId": "all workloads of a batch must be in the same project"
    }


@pytest.mark.parametrize(("quota", "expected"), [(0.9, 202), (0.8, 400)])
def test_the_quota_counts_all_workloads_of_a_batch(
    call: Caller, seed_body: Body, project: Project, quota: float, expected: int
) -> None:
    """Where what is given starts at once: on a cluster that queues and knows no quotas."""
    Cluster.objects.filter(pk=project.cluster_id).update(
        kind="kubernetes", capabilities_json=project.cluster.capabilities_json | {"queues": True}
    )
    Project.objects.filter(pk=project.pk).update(cpu_quota=quota, over_quota=False)
    body = sweep(seed_body, "a", "b", "c")
    for one in body["workloads"]:  # three ranks each
        one["spec"]["compute"] = {"cpuCoreRequest": 0.1}
    status, answer = call("POST", PATH, body)
    assert status == expected, answer
    assert Workload.objects.count() == (3 if expected == 202 else 0)
    if expected == 400:
        assert "0.9 CPU cores, the quota is 0.8" in issues(answer)["workloads"]


def test_each_workload_of_a_batch_counts_alone_where_workloads_wait_their_turn(
    call: Caller, seed_body: Body, project: Project
) -> None:
    Project.objects.filter(pk=project.pk).update(gpu_quota=0.5, over_quota=False)
    status, answer = call("POST", PATH, sweep(seed_body, "a", "b", "c"))  # 0.3 of a GPU each
    assert status == 202, answer
    Project.objects.filter(pk=project.pk).update(gpu_quota=0.2)
    status, answer = call("POST", PATH, sweep(seed_body, "d", "e"))
    assert status == 400
    assert set(issues(answer)) == {"workloads.0.spec.compute", "workloads.1.spec.compute"}
    assert Workload.objects.count() == 3


def test_a_taken_name_is_told_with_what_else_is_wrong(
    call: Caller, seed_body: Body, project: Project
) -> None:
    WorkloadFactory.create(project=project, name="b")
    body = sweep(seed_body, "a", "b", a={"masterSpec": {"image": "a b"}})
    status, answer = call("POST", PATH, body)
    assert status == 400
    assert set(issues(answer)) == {"workloads.0.masterSpec.image", "workloads.1.name"}


@pytest.mark.parametrize("many", [0, 101])
def test_a_batch_has_its_measure(call: Caller, seed_body: Body, many: int) -> None:
    names = [f"w{n}" for n in range(many)]
    status, answer = call("POST", PATH, sweep(seed_body, *names))
    assert status == 400
    assert set(issues(answer)) == {"workloads"}
    expected = "must be at most 100 items long" if many else "is required"
    assert answer["complianceIssues"][0]["details"] == expected


def test_an_unknown_key_is_named_by_its_place(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", PATH, sweep(seed_body, "a", "b", b={"nmae": "typo"}))
    assert status == 400
    assert "workloads.1.nmae" in issues(answer)


def test_a_stranger_cannot_submit_into_a_project(stranger: Caller, seed_body: Body) -> None:
    status, answer = stranger("POST", PATH, sweep(seed_body, "a"))
    assert status == 400
    assert set(issues(answer)) == {"workloads.0.projectId", "workloads.0.clusterId"}
    assert not Workload.objects.exists()


def test_a_project_that_is_lost_meanwhile_is_told_of(
    call: Caller, seed_body: Body, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*args: object, **kwargs: object) -> list[Workload]:
        raise IntegrityError("a row that something refers to is gone")

    def forgotten(user: User) -> None:
        remove_members(project, user)
        forget(user)

    forget = access.forget_rules
    monkeypatch.setattr(submission, "create", too_late)
    monkeypatch.setattr(access, "forget_rules", forgotten)
    status, answer = call("POST", PATH, sweep(seed_body, "a"))
    assert status == 400, answer
    assert set(issues(answer)) == {"workloads.0.projectId", "workloads.0.clusterId"}
