"""The pages of workflows, and who may see and use them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import UserFactory
from tests.web import HTMX, signed_in
from tests.workflows.graphs import chain, group, put, run_of, submit, workload_of
from workflows import services
from workflows.models import Workflow
from workflows.output import LineChoice, last_lines
from workflows.statuses import Status
from workflows.texts import WorkflowText
from workloads.logs.store import Stream, append
from workloads.models import Workload


@pytest.fixture
def workflow(project: Project, member: User) -> Workflow:
    text = WorkflowText(
        original="platform: {{ platform }}\nAPI_TOKEN: hush",
        rendered="platform: a100\nAPI_TOKEN: hush",
        files={"train.py": "print(1)"},
        variables={"platform": "a100"},
        report=[{"line": 3, "label": "Ignored", "tone": "warning", "text": "kpis: unknown here"}],
    )
    return services.submit(chain(), project=project, by=member, text=text)


def test_the_list_shows_each_workflow_with_its_progress(
    project: Project, member: User, workflow: Workflow
) -> None:
    browser = signed_in(member)
    put(submit(project, group("one"), by=member), "one", Phase.COMPLETED, code=0)
    page = browser.get("/workflows/").content.decode()
    assert "train-1" in page
    assert "0 of 4" in page
    assert "1 of 1" in page
    assert "train-2" not in browser.get("/workflows/?show=running").content.decode()
    assert "No results" in browser.get("/workflows/?q=nothing", **HTMX).content.decode()
    Workflow.objects.all().delete()
    assert "No workflows yet" in browser.get("/workflows/").content.decode()


def test_the_page_draws_the_graph_with_status_duration_log_and_cause(
    project: Project, member: User
) -> None:
    workflow = submit(project, by=member)
    first = workload_of(workflow, "data")
    put(workflow, "data", Phase.COMPLETED, code=0)
    put(workflow, "left", Phase.FAILED, Reason.IMAGE_UNKNOWN, message="No such image.")
    right = workload_of(workflow, "right")
    started = timezone.now() - timedelta(seconds=75)
    Workload.objects.filter(pk=right.pk).update(phase=Phase.RUNNING, started_at=started)
    page = signed_in(member).get(workflow.get_absolute_url(), **HTMX).content.decode()
    assert page.count("<rect") == 4
    assert page.count('class="arrow"') == 4
    assert "Failed: image pull" in page
    assert "No such image." in page
    assert "Running · 1 min 15 s" in page
    assert f"/workloads/{first.pk}/logs/" in page
    assert f"w-{right.pk}" in page
    assert "data-settled" not in page


def test_a_workload_links_to_its_workflow(project: Project, member: User) -> None:
    workflow = submit(project, group("one"), by=member)
    address = workload_of(workflow, "one").get_absolute_url()
    page = signed_in(member).get(address).content.decode()
    assert f'href="{workflow.get_absolute_url()}">of train-1</a>' in page


def test_the_tabs_show_report_and_file_without_secrets(member: User, workflow: Workflow) -> None:
    browser = signed_in(member)
    report = browser.get(f"{workflow.get_absolute_url()}report/").content.decode()
    assert "kpis: unknown here" in report
    file = browser.get(f"{workflow.get_absolute_url()}file/").content.decode()
    assert "platform: a100" in file
    assert "platform: {{ platform }}" in file
    assert "print(1)" in file
    assert "hush" not in file


def test_the_logs_of_all_groups_are_merged(project: Project, member: User) -> None:
    workflow = submit(project, group("one"), group("two"), by=member)
    browser = signed_in(member)
    address = f"{workflow.get_absolute_url()}logs/"
    assert "No output yet" in browser.get(address).content.decode()
    for name in ("one", "two"):
        append(Stream(workload_of(workflow, name).pk, 1, 0, 0), f"hello of {name}\n".encode())
    page = browser.get(address).content.decode()
    assert page.index("hello of one") < page.index("hello of two")
    assert f"o-{workload_of(workflow, 'one').pk}" in page


def test_starts_keep_their_numbers_when_earlier_ones_are_deleted(
    project: Project, member: User
) -> None:
    again = {"RESCHEDULE": [{"first": 4, "last": 4}]}
    workflow = submit(project, group("one", exit_actions=again), by=member)
    for _ in range(2):
        put(workflow, "one", Phase.FAILED, Reason.RANK_FAILED, code=4)
    starts = run_of(workflow, "one").workloads()
    for workload in starts.values():
        append(Stream(workload.pk, 1, 0, 0), f"said by {workload.name}\n".encode())
    starts[0].delete()
    run = run_of(workflow, "one")
    (line,) = last_lines([run], LineChoice(retry=1))
    assert (line.retry, line.text) == (1, "said by train-1-one-retry-1")
    page = signed_in(member).get(workflow.get_absolute_url()).content.decode()
    assert "Log of start 2" in page
    assert "Log of start 1" not in page


def test_a_workflow_is_canceled_restarted_and_deleted_from_its_page(
    project: Project, member: User
) -> None:
    workflow = submit(project, group("one"), by=member)
    browser = signed_in(member)
    home = workflow.get_absolute_url()
    assert browser.get(f"{home}delete/").context["refusal"]
    assert browser.get(f"{home}cancel/").status_code == 200
    assert browser.post(f"{home}cancel/").status_code == 302
    assert browser.post(f"{home}cancel/").status_code == 422
    moved = browser.post(f"{home}restart/")
    again = Workflow.objects.get(label="train-2").get_absolute_url()
    assert moved["Location"] == again
    assert browser.post(f"{again}restart/").status_code == 422
    assert browser.post(f"{home}delete/").status_code == 302
    assert not Workflow.objects.filter(pk=workflow.pk).exists()


def test_others_find_nothing(workflow: Workflow) -> None:
    browser = signed_in(UserFactory.create())
    for path in ("", "logs/", "file/", "report/", "cancel/", "restart/", "delete/"):
        assert browser.get(workflow.get_absolute_url() + path).status_code in (403, 404)
    assert workflow.status == Status.PENDING
