"""One action on several workloads: the selected ones, or all that match the table's filters."""

import json
from uuid import UUID

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client

from accounts import access
from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory, add_members
from workloads.detail import actions
from workloads.models import Workload

HTMX = {"HX-Request": "true"}


def phase(pk: UUID) -> str:
    return Workload.objects.get(pk=pk).phase


def count(client: Client, query: str) -> int:
    number: int = client.get(f"/workloads/matching/?{query}").json()["count"]
    return number


@pytest.fixture
def sweep(project: Project) -> list[Workload]:
    names = [f"sweep-{n}" for n in range(60)]
    return [WorkloadFactory(name=name, project=project, running=True) for name in names]


def of_all(query: str, agreed: int, verb: str = "stop") -> dict[str, object]:
    return {"verb": verb, "all": "1", "matching": query, "agreed": agreed}


def test_all_that_match_are_acted_on_beyond_the_page(
    client: Client, workload: Workload, sweep: list[Workload]
) -> None:
    assert count(client, "q=sweep") == len(sweep)
    page = client.post("/workloads/bulk/", of_all("q=sweep", len(sweep))).content.decode()
    assert "All accepted" in page
    assert {phase(one.pk) for one in sweep} == {Phase.STOPPING}
    assert phase(workload.pk) == Phase.RUNNING, "it does not match"


def test_all_that_match_are_looked_up_when_one_acts(client: Client, sweep: list[Workload]) -> None:
    Workload.objects.filter(pk=sweep[0].pk).update(name="renamed", phase=Phase.STOPPED)
    agreed = len(sweep)
    page = client.post("/workloads/bulk/", of_all("q=sweep", agreed)).content.decode()
    assert f"{len(sweep) - 1} workloads" in page
    assert phase(sweep[0].pk) == Phase.STOPPED


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_more_than_one_agreed_to_are_not_touched(
    client: Client, sweep: list[Workload], headers: dict[str, str]
) -> None:
    data = of_all("q=sweep", len(sweep) - 1)
    answer = client.post("/workloads/bulk/", data, headers=headers)
    assert answer.status_code == (200 if headers else 400), "htmx swaps no error"
    assert "Of 60 workloads" in answer.content.decode()
    assert {phase(one.pk) for one in sweep} == {Phase.RUNNING}


@pytest.mark.parametrize("agreed", ["", "-1", "nonsense", "9" * 40])
def test_nothing_is_done_without_a_number_that_one_agreed_to(
    client: Client, workload: Workload, agreed: str
) -> None:
    data = {"verb": "delete", "all": "1", "matching": "", "agreed": agreed}
    assert client.post("/workloads/bulk/", data).status_code == 400
    assert phase(workload.pk) == Phase.RUNNING


def test_there_is_a_largest_number_of_all_that_match(
    client: Client, sweep: list[Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_COUNTED", 20)
    told = client.get("/workloads/matching/").json()
    assert told == {"refusal": "More than 20 workloads match. Add a filter first."}
    page = client.post("/workloads/bulk/", of_all("", 60)).content.decode()
    assert "More than 20 workloads match" in page
    assert {phase(one.pk) for one in sweep} == {Phase.RUNNING}


def test_all_that_match_are_those_that_one_may_see(client: Client, workload: Workload) -> None:
    hidden = WorkloadFactory(name="of-others", running=True)
    assert count(client, "") == 1
    page = client.post("/workloads/bulk/", of_all("", 5)).content.decode()
    assert "of-others" not in page
    assert (phase(workload.pk), phase(hidden.pk)) == (Phase.STOPPING, Phase.RUNNING)


def test_deleted_ones_are_among_no_selection(client: Client, workload: Workload) -> None:
    assert count(client, "deleted=1") == 0
    client.post("/workloads/bulk/", of_all("deleted=1", 5, "delete"))
    assert phase(workload.pk) == Phase.RUNNING


def test_each_workload_has_its_own_right(
    client: Client, sweep: list[Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden = sweep[7].pk
    allowed = access.require
    elsewhere = WorkloadFactory(name="elsewhere").project
    Workload.objects.filter(pk=forbidden).update(project=elsewhere)
    add_members(elsewhere, *sweep[0].project.members.all())

    def guarded(user: User, action: str, *scopes: str) -> None:
        if elsewhere.scope_keys[0] in scopes:
            raise PermissionDenied("You need the permission workloads.update for this.")
        allowed(user, action, *scopes)

    monkeypatch.setattr(access, "require", guarded)
    page = client.post("/workloads/bulk/", of_all("q=sweep", 60)).content.decode()
    assert "1 of 60 failed" in page
    assert page.index("workloads.update") < page.index("sweep-0<"), "what failed comes first"
    assert phase(forbidden) == Phase.RUNNING
    assert phase(sweep[8].pk) == Phase.STOPPING


def test_workloads_of_other_pages_come_with_those_of_this_one(
    client: Client, sweep: list[Workload]
) -> None:
    others = ",".join(str(one.pk) for one in sweep[1:5])
    data = {"verb": "stop", "id": [str(sweep[0].pk)], "others": others}
    answer = client.post("/workloads/bulk/", data, headers=HTMX)
    assert len(json.loads(answer["HX-Trigger"])["live-changed"]["value"]) == 5
    assert [phase(one.pk) for one in sweep[4:6]] == [Phase.STOPPING, Phase.RUNNING]


def test_the_table_names_what_all_are(client: Client, sweep: list[Workload]) -> None:
    page = client.get("/workloads/?q=sweep&sort=name&columns=name").content.decode()
    assert 'data-matching="q=sweep"' in page
    assert "Select all 60 that match" in page
    assert "Select all" not in client.get("/workloads/?q=sweep-1").content.decode().replace(
        "Select all rows on this page", ""
    ), "they are all on this page"


def test_filters_with_unfit_text_are_refused(client: Client, workload: Workload) -> None:
    assert client.post("/workloads/bulk/", of_all("q=%00", 1)).status_code == 400
    assert phase(workload.pk) == Phase.RUNNING


def test_an_answer_has_room_in_the_header_of_a_proxy(client: Client, sweep: list[Workload]) -> None:
    answer = client.post("/workloads/bulk/", of_all("q=sweep", 60), headers=HTMX)
    assert len(answer["HX-Trigger"]) < 3_000
