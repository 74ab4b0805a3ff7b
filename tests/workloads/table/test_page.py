"""The table as people see it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.web import signed_in
from workloads.models import Draft, Workload
from workloads.table.columns import BY_KEY, DEFAULT

HTMX = {"HX-Request": "true"}


def test_the_table_shows_each_workload_with_its_cause(client: Client, project: Project) -> None:
    WorkloadFactory(
        name="digits",
        project=project,
        pending=True,
        message="Not enough free capacity: 4 GPUs requested.",
    )
    page = client.get("/workloads/").content.decode()
    assert "digits" in page
    assert "Pending" in page
    assert "Not enough free capacity: 4 GPUs requested." in page


def test_a_stranger_sees_no_row_of_the_table(workload: Workload, stranger: User) -> None:
    for address in ("/workloads/", f"/workloads/rows/?ids={workload.pk}&new={workload.pk}"):
        assert "digits" not in signed_in(stranger).get(address).content.decode()


def test_an_administrator_sees_every_project(workload: Workload, administrator: User) -> None:
    assert "digits" in signed_in(administrator).get("/workloads/").content.decode()


@pytest.mark.parametrize(
    "address", ["/workloads/", "/workloads/rows/", "/workloads/filter/", "/workloads/bulk/"]
)
def test_the_table_asks_for_signing_in(db: None, address: str) -> None:
    answer = Client().get(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


def test_htmx_gets_the_table_alone(client: Client, workload: Workload) -> None:
    part = client.get("/workloads/?sort=name", headers=HTMX)
    assert part.content.decode().lstrip().startswith('<section id="workloads"')
    assert part["HX-Push-Url"] == "/workloads/?sort=name"


def test_going_back_brings_the_whole_page(client: Client, workload: Workload) -> None:
    restored = HTMX | {"HX-History-Restore-Request": "true"}
    assert "<html" in client.get("/workloads/?sort=name", headers=restored).content.decode()


def test_the_filter_forms_three_fields_become_one_address(client: Client) -> None:
    part = client.get("/workloads/?fc=status&fo=is&fv=Running&fv=Pending", headers=HTMX)
    assert part["HX-Push-Url"] == "/workloads/?f=status:is:Running|Pending"


def test_a_new_user_is_led_to_the_first_workload(client: Client) -> None:
    assert "No workloads yet" in client.get("/workloads/").content.decode()


def test_an_empty_filter_offers_the_way_back(client: Client, workload: Workload) -> None:
    page = client.get("/workloads/?q=nothing-like-it").content.decode()
    assert "No workload matches" in page
    assert "Clear search and filters" in page


def test_columns_are_chosen_in_the_address(client: Client, workload: Workload) -> None:
    page = client.get("/workloads/?columns=cluster,image", headers=HTMX).content.decode()
    head = page[page.index("<thead>") : page.index("</thead>")]
    assert "Environment image" in head
    assert "Workload" in head, "the name stays: it is the way to the workload"
    assert "Created by" not in head


def test_a_deleted_workload_is_gone(client: Client, workload: Workload) -> None:
    Workload.objects.update(deleted_at=workload.created_at)
    assert "digits" not in client.get("/workloads/").content.decode()
    assert (
        f"w-{workload.pk}" not in client.get(f"/workloads/rows/?ids={workload.pk}").content.decode()
    )


def test_rows_come_as_they_stand_now(client: Client, workload: Workload) -> None:
    other = WorkloadFactory(project=workload.project, name="failing", failed=True)
    part = client.get(f"/workloads/rows/?ids={workload.pk},nonsense&new={other.pk}")
    rows, new = part.content.decode().split('data-part="new"')
    assert f'id="w-{workload.pk}"' in rows
    assert f'id="w-{other.pk}"' in new


def test_a_new_row_must_pass_the_filter(client: Client, workload: Workload) -> None:
    part = client.get(f"/workloads/rows/?q=other&new={workload.pk}")
    assert "digits" not in part.content.decode()


@pytest.mark.parametrize(
    "address",
    ["/workloads/?columns=name,status,project,department,creator,cluster,template,metrics,pods"],
)
def test_more_rows_cost_no_more_queries(
    client: Client, project: Project, address: str, member: User
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(address)
        return len(captured)

    WorkloadFactory.create_batch(5, project=project)
    client.get(address)
    few = queries()
    WorkloadFactory.create_batch(45, project=project)
    assert queries() == few <= 9


def test_large_columns_stay_in_the_database(client: Client, workload: Workload) -> None:
    with CaptureQueriesContext(connection) as captured:
        client.get("/workloads/")
    asked = " ".join(query["sql"] for query in captured if "workloads_workload" in query["sql"])
    assert "spec_json" not in asked
    assert "draft_json" not in asked


def test_drafts_are_offered_to_their_author_only(
    client: Client, member: User, stranger: User
) -> None:
    Draft.objects.create(owner=stranger, document={"name": "someone-elses"})
    assert "someone-elses" not in client.get("/workloads/").content.decode()


@pytest.mark.usefixtures("workload")
def test_nonsense_in_the_address_is_no_error(client: Client) -> None:
    for key in ("f", "sort", "columns", "after", "before", "q", "fc"):
        for value in ("", "' OR 1=1 --", "created:within:99999 w", "-", "%", "é" * 300):
            data: Any = {key: value, "fv": value, "fo": "is"}
            assert client.get("/workloads/", data).status_code == 200, (key, value)


def test_a_project_of_others_is_not_found_by_filter(client: Client, workload: Workload) -> None:
    WorkloadFactory(name="of-team-b", project=ProjectFactory(name="team-b"))
    page = client.get("/workloads/?f=project:is:team-b").content.decode()
    assert "of-team-b" not in page


def test_new_rows_are_found_by_who_heard_of_none(client: Client, workload: Workload) -> None:
    page = client.get("/workloads/").content.decode()
    as_of = page.split('data-as-of="')[1].split('"')[0]
    hour = timedelta(hours=1)
    Workload.objects.update(created_at=timezone.now() - hour)
    other = WorkloadFactory(project=workload.project, name="made-since")
    asked = {"since": as_of}
    for query, expected in (
        (asked, True),
        (asked | {"q": "digits"}, False),
        ({"since": "?"}, False),
        ({"since": "0001-01-01T00:00:00+05:00"}, False),
        ({"since": "2999-01-01T00:00:00+21:48"}, False),
    ):
        part = client.get("/workloads/rows/", query).content.decode()
        assert (f'id="w-{other.pk}"' in part) is expected
        assert f'id="w-{workload.pk}"' not in part, "it is older"
        assert "data-as-of" in part


@pytest.mark.parametrize(("complete", "settled"), [(True, True), (False, False)])
def test_a_row_is_settled_when_its_last_numbers_are_here(
    client: Client, workload: Workload, complete: bool, settled: bool
) -> None:
    Workload.objects.update(phase=Phase.COMPLETED, logs_complete=complete)
    row = client.get(f"/workloads/rows/?ids={workload.pk}").content.decode()
    assert ("data-settled" in row) is settled


def test_a_row_says_whose_it_is(client: Client, workload: Workload, member: User) -> None:
    for owner, mine in ((member, True), (UserFactory(), False)):
        Workload.objects.update(created_by=owner)
        row = client.get(f"/workloads/rows/?ids={workload.pk}").content.decode()
        assert ("data-mine" in row) is mine


@pytest.mark.parametrize(
    ("phase", "pods"),
    [(Phase.RUNNING, "2/3"), (Phase.COMPLETED, "3/3 done"), (Phase.FAILED, "0/3")],
)
def test_a_completed_run_shows_its_pods_as_done(phase: Phase, pods: str) -> None:
    running = 2 if phase == Phase.RUNNING else 0
    workload = Workload(phase=phase, running_pods=running, num_pods=3)
    assert BY_KEY["pods"].text(workload) == pods


def test_columns_stand_in_the_order_of_the_address(client: Client, workload: Workload) -> None:
    page = client.get("/workloads/?columns=gpus,status,name", headers=HTMX).content.decode()
    head = page[page.index("<thead>") : page.index("</thead>")]
    labels = ["GPU compute request", "Status", "Workload"]
    assert sorted(labels, key=head.index) == labels
    assert 'href="?"' in page, "Reset leads to the columns that the table begins with"


def test_gpus_are_shown_without_asking() -> None:
    assert BY_KEY["gpus"] in DEFAULT


def test_the_same_table_again_is_no_new_entry_of_the_history(
    client: Client, workload: Workload
) -> None:
    here = {"HX-Current-URL": f"http://testserver/workloads/?sort=name&sel={workload.pk}"}
    assert "HX-Push-Url" not in client.get("/workloads/?sort=name", headers=HTMX | here)
    assert "HX-Push-Url" in client.get("/workloads/?sort=-name", headers=HTMX | here)
