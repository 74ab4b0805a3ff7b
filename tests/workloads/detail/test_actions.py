"""Stop, run, delete and copy from the pages."""

import json
from uuid import UUID

import pytest
from django.test import Client

from accounts.models import User
from spec.phases import Phase
from tests.factories import WorkloadFactory
from tests.web import signed_in
from workloads.models import Draft, Workload

VERBS = ["stop", "run", "delete", "copy"]
HTMX = {"HX-Request": "true"}


def phase(pk: UUID) -> str:
    return Workload.objects.get(pk=pk).phase


def test_stop_asks_first_and_then_stops(client: Client, workload: Workload) -> None:
    asked = client.get(f"/workloads/{workload.pk}/stop/")
    assert "grace period" in asked.content.decode()
    assert phase(workload.pk) == Phase.RUNNING, "asking changes nothing"
    answer = client.post(f"/workloads/{workload.pk}/stop/")
    assert answer["Location"] == workload.get_absolute_url()
    assert phase(workload.pk) == Phase.STOPPING


def test_htmx_hears_what_changed(client: Client, workload: Workload) -> None:
    answer = client.post(f"/workloads/{workload.pk}/stop/", headers=HTMX)
    assert answer.status_code == 204
    triggers = json.loads(answer["HX-Trigger"])
    assert triggers["live-changed"] == {"value": [f"w-{workload.pk}"]}
    assert "Stopping digits" in triggers["toasts"]["shown"][0]["text"]


@pytest.mark.parametrize("part", ["workload-head", "workload-content"])
def test_a_live_change_ends_no_request_of_the_buttons_within(
    client: Client, workload: Workload, part: str
) -> None:
    """htmx hands ``hx-sync`` on to all below, where *Copy & edit* would be ended by a refresh."""
    page = client.get(f"/workloads/{workload.pk}/").content.decode()
    tag = page.split(f'id="{part}"')[1].split(">")[0]
    assert 'hx-sync="this:replace"' in tag
    assert 'hx-disinherit="hx-sync"' in tag


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_action_that_the_phase_of_a_workload_forbids_says_so(
    client: Client, workload: Workload, headers: dict[str, str]
) -> None:
    answer = client.post(f"/workloads/{workload.pk}/run/", headers=headers)
    assert answer.status_code == 409
    told = answer.content.decode() + answer.get("HX-Trigger", "")
    assert "it can run again once it has ended" in told
    assert phase(workload.pk) == Phase.RUNNING


def test_run_starts_the_next_run(client: Client, workload: Workload) -> None:
    Workload.objects.update(phase=Phase.STOPPED)
    client.post(f"/workloads/{workload.pk}/run/")
    workload.refresh_from_db()
    assert (workload.phase, workload.run) == (Phase.RESUMING, 2)


def test_delete_leads_back_to_the_table(client: Client, workload: Workload) -> None:
    assert client.post(f"/workloads/{workload.pk}/delete/")["Location"] == "/workloads/"
    assert phase(workload.pk) == Phase.DELETING


def test_deleting_a_workload_on_its_own_page_leads_to_the_table(
    client: Client, workload: Workload
) -> None:
    here = {"HX-Current-URL": f"http://testserver{workload.get_absolute_url()}"}
    answer = client.post(f"/workloads/{workload.pk}/delete/", headers=HTMX | here)
    assert answer["HX-Redirect"] == "/workloads/"


def test_copy_opens_a_draft_with_a_free_name(
    client: Client, workload: Workload, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Draft, "get_absolute_url", lambda draft: f"/drafts/{draft.pk}/")
    answer = client.post(f"/workloads/{workload.pk}/copy/")
    draft = Draft.objects.get(owner=member)
    assert answer["Location"] == f"/drafts/{draft.pk}/"
    assert (draft.copied_from, draft.content.name) == (workload, "digits-copy")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_finds_no_such_workload(
    verb: str, method: str, workload: Workload, stranger: User
) -> None:
    address = f"/workloads/{workload.pk}/{verb}/"
    assert getattr(signed_in(stranger), method)(address).status_code == 404
    assert getattr(Client(), method)(address)["Location"].startswith("/accounts/login/")
    assert phase(workload.pk) == Phase.RUNNING


def test_a_bulk_action_reports_the_outcome_for_each_workload(
    client: Client, workload: Workload, stranger: User
) -> None:
    done = WorkloadFactory(name="finished", project=workload.project, completed=True)
    hidden = WorkloadFactory(name="of-others", running=True)
    data = {"verb": "stop", "id": [str(workload.pk), str(done.pk), str(hidden.pk), "nonsense"]}
    page = client.post("/workloads/bulk/", data).content.decode()
    assert "1 of 2 failed" in page
    assert "Stopping 1, 1 failed" in page
    assert "finished is Completed; there is nothing to stop." in page
    assert "of-others" not in page
    assert (phase(workload.pk), phase(hidden.pk)) == (Phase.STOPPING, Phase.RUNNING)


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("stop", Phase.RUNNING, Phase.STOPPING),
        ("run", Phase.STOPPED, Phase.RESUMING),
        ("delete", Phase.COMPLETED, Phase.DELETING),
    ],
)
def test_a_bulk_action_is_done_to_each_workload(
    client: Client, workload: Workload, verb: str, before: Phase, after: Phase
) -> None:
    other, left = (WorkloadFactory(name=name, project=workload.project) for name in ("b", "c"))
    Workload.objects.update(phase=before)
    client.post("/workloads/bulk/", {"verb": verb, "id": [str(workload.pk), str(other.pk)]})
    assert [phase(one.pk) for one in (workload, other, left)] == [after, after, before]


def test_a_bulk_action_without_a_verb_or_a_choice_does_nothing(
    client: Client, workload: Workload
) -> None:
    assert client.post("/workloads/bulk/", {"verb": "explode"}).status_code == 400
    many = {"verb": "delete", "id": [str(workload.pk)] * 201}
    assert client.post("/workloads/bulk/", many).status_code == 400
    assert phase(workload.pk) == Phase.RUNNING, "nothing is done to a part of them"
    assert (
        "Select at least one" in client.post("/workloads/bulk/", {"verb": "stop"}).content.decode()
    )


def test_a_post_without_the_token_is_refused(member: User, workload: Workload) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    assert strict.post(f"/workloads/{workload.pk}/stop/").status_code == 403
