"""The page that compares runs: whom it shows what, and how many queries it takes."""

from datetime import timedelta
from uuid import uuid4

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, WorkloadFactory
from workloads.models import Sample, SampleKind, Workload


def report(workload: Workload, losses: list[float], run: int = 1) -> None:
    now = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.TRAINING,
            run=run,
            rank=0,
            step=step,
            at=now + timedelta(seconds=step + 100 * run),
            values={"loss": loss},
        )
        for step, loss in enumerate(losses)
    )


def address(*keys: object) -> str:
    return f"/workloads/compare/?ids={','.join(map(str, keys))}"


def test_the_best_of_each_metric_is_marked(
    client: Client, workload: Workload, project: Project, member: User
) -> None:
    other = WorkloadFactory(project=project, created_by=member, completed=True)
    report(workload, [3.0, 0.5, 0.75])
    report(other, [3.0, 1.0])
    page = client.get(address(workload.pk, other.pk)).content.decode()
    row = page.partition("best is lowest")[2].partition("</tr>")[0]
    mine, theirs = (" ".join(cell.split()) for cell in row.split("<td")[1:])
    assert '"strong">0.5</span> <span class="soft">at step 1<' in mine
    assert "last 0.75 at step 2" in mine
    assert "Best" in mine
    assert "Best" not in theirs


def test_ids_that_one_may_not_see_are_said_and_tell_nothing(
    client: Client, workload: Workload, project: Project, member: User
) -> None:
    hidden = WorkloadFactory(name="of-others", project=ProjectFactory())
    report(hidden, [0.125])
    nowhere = uuid4()
    page = client.get(address(workload.pk, hidden.pk, nowhere, "odd")).content.decode()
    for name in (hidden.pk, nowhere, "odd"):
        assert f"{name}: not found, or not visible to you." in page
    assert "of-others" not in page
    assert "0.125" not in page
    query = address(workload.pk, hidden.pk).partition("?")[2]
    data = client.get(f"/workloads/compare/data/?{query}").content.decode()
    assert "0.125" not in data
    samples = client.get(f"/workloads/compare/samples.csv?{query}").content.decode()
    assert "0.125" not in samples


def test_runs_of_one_workload_are_compared(client: Client, workload: Workload) -> None:
    Workload.objects.filter(pk=workload.pk).update(run=2)
    report(workload, [2.0, 1.0], run=1)
    report(workload, [0.5, 0.25], run=2)
    keys = (f"{workload.pk}:1", f"{workload.pk}:2", f"{workload.pk}:3")
    page = client.get(address(*keys)).content.decode()
    assert f"{workload.name}, run 2" in page
    assert f"{workload.pk}:3: not found" in page
    query = address(*keys[:2]).partition("?")[2]
    (loss,) = client.get(f"/workloads/compare/data/?{query}").json()["training"]
    assert [line["y"] for line in loss["lines"]] == [[2.0, 1.0], [0.5, 0.25]]
    assert [line["number"] for line in loss["lines"]] == [0, 1]
    assert loss["dashed"]
    tab = client.get(f"/workloads/{workload.pk}/metrics/").content.decode()
    assert address(*keys[:2]) in tab


def test_a_ninth_is_left_out_and_one_is_too_few(
    client: Client, workload: Workload, project: Project, member: User
) -> None:
    many = WorkloadFactory.create_batch(8, project=project, created_by=member)
    page = client.get(address(workload.pk, *(it.pk for it in many))).content.decode()
    assert "Compare 8 runs" in page
    assert "At most 8 can be compared" in page
    for too_few in ("/workloads/compare/", address(workload.pk, workload.pk)):
        assert "Nothing to compare yet" in client.get(too_few).content.decode()


def test_the_number_of_queries_is_that_of_two(
    client: Client, project: Project, member: User
) -> None:
    many = WorkloadFactory.create_batch(8, project=project, created_by=member)
    for one in many:
        report(one, [1.0])
    counts = []
    for some in (many[:2], many):
        with CaptureQueriesContext(connection) as queries:
            client.get(address(*(it.pk for it in some)))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_selected_rows_lead_to_their_comparison(client: Client, workload: Workload) -> None:
    other = uuid4()
    posted = {"id": str(workload.pk), "others": str(other)}
    answer = client.post("/workloads/compare/selected/", posted)
    assert answer["Location"] == address(workload.pk, other)


def test_a_copy_can_be_compared_with_its_origin(
    client: Client, workload: Workload, project: Project, member: User
) -> None:
    copy = WorkloadFactory(project=project, created_by=member, copied_from=workload)
    spec = f"/workloads/{copy.pk}/spec/"
    assert address(workload.pk, copy.pk) in client.get(spec).content.decode()
    assert "/compare/" not in client.get(f"/workloads/{workload.pk}/spec/").content.decode()
