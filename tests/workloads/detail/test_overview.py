"""What the page says first: the cause."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from clusters.models import Cluster, State
from engines.findings import METERING, Finding, Level
from projects.models import Project
from spec.phases import RankPhase, Reason
from tests.factories import TemplateFactory, WorkloadFactory
from workloads import logs
from workloads.detail.exit_codes import advice, describe_exit
from workloads.diagnosis.ranks import sort_by_failure
from workloads.history import events
from workloads.models import Attempt, Workload


@pytest.fixture
def failed(project: Project, settings: Settings, tmp_path: Path) -> Workload:
    """Worker 0 dies first; the others are taken along."""
    settings.LOG_STORE = tmp_path
    workload = WorkloadFactory(
        name="doomed",
        project=project,
        failed=True,
        reason=Reason.RANK_FAILED,
        message="Rank 1 failed.",
    )
    now = timezone.now()
    for rank, code, seconds in ((0, -15, 2), (1, 1, 1), (2, 143, 0)):
        at = now + timedelta(seconds=seconds)
        workload.ranks.filter(rank=rank).update(exit_code=code, finished_at=at)
    stream = logs.Stream(workload.pk, 1, 0, 1)
    logs.append(stream, b"".join(b"line %d\n" % n for n in range(50)) + b"ValueError: no such file")
    return workload


def page(client: Client, workload: Workload, tab: str = "") -> str:
    return client.get(f"/workloads/{workload.pk}/{tab}").content.decode()


def test_a_failed_workload_opens_on_its_cause(client: Client, failed: Workload) -> None:
    shown = page(client, failed)
    assert "worker-0 (rank 1) failed first: exit code 1: the program ended with an error" in shown
    assert "ValueError: no such file" in shown
    assert "line 31" in shown
    assert "line 30\n" not in shown, "its last 20 lines"
    assert advice(Reason.RANK_FAILED).split(",")[0] in shown


def test_the_last_lines_are_those_of_the_last_start_that_printed_any(
    client: Client, failed: Workload
) -> None:
    logs.append(logs.Stream(failed.pk, 1, 1, 1), b"")
    assert "line 31" in page(client, failed)


def test_the_page_of_a_lost_workload_blames_no_rank(client: Client, failed: Workload) -> None:
    failed.ranks.update(reason=Reason.LOST, exit_code=None, started_at=timezone.now())
    Workload.objects.update(reason=Reason.LOST)
    shown = page(client, failed)
    assert "disappeared without an exit code" in shown
    assert "failed first" not in shown


def test_the_page_of_an_evicted_workload_says_so_in_its_title(
    client: Client, failed: Workload
) -> None:
    said = "was evicted: Eviction API: evicting"
    removed = {"reason": Reason.LOST, "exit_code": None, "message": said, "node": "n1"}
    failed.ranks.filter(rank=1).update(finished_at=failed.created_at, **removed)
    Workload.objects.update(reason=Reason.LOST)
    shown = page(client, failed)
    assert f"worker-0 (rank 1) {said}</h2>" in shown


def test_a_rank_that_had_to_give_way_is_the_cause(client: Client, failed: Workload) -> None:
    """Though its peers end sooner, and by themselves."""
    said = "was preempted by team-b/urgent on node n1"
    failed.ranks.filter(rank=2).update(reason=Reason.PREEMPTED, message=said)
    Workload.objects.update(reason=Reason.PREEMPTED, message=f"worker-1 (rank 2) {said}.")
    shown = page(client, failed)
    assert f"worker-1 (rank 2) {said}</h2>" in shown
    assert "failed first" not in shown
    assert advice(Reason.PREEMPTED).split(",")[0] in shown


def test_the_page_of_a_workload_at_its_time_limit_blames_no_rank(
    client: Client, failed: Workload
) -> None:
    why = "It reached its time limit of 10 min."
    Workload.objects.update(reason=Reason.DEADLINE_EXCEEDED, message=why)
    failed.spec_json["timeLimitSeconds"] = 600
    failed.save(update_fields=["spec_json"])
    shown = page(client, failed)
    assert "It was stopped</h2>" in shown
    assert why in shown
    assert "of at most 10 min" in shown
    assert "failed first" not in shown


def test_ranks_that_were_taken_along_are_not_the_cause(failed: Workload) -> None:
    assert sort_by_failure(failed.ranks.all())[0].rank == 1
    failed.ranks.filter(rank=1).update(phase=RankPhase.STOPPED)
    assert sort_by_failure(failed.ranks.all())[0].rank == 2, "then the one that ended first"


def test_a_rank_that_could_not_be_started_failed_first(client: Client, failed: Workload) -> None:
    failed.ranks.update(exit_code=1, finished_at=timezone.now())
    unstarted = failed.ranks.filter(rank=2)
    why = "could not be started: no such file"
    before = timezone.now() - timedelta(minutes=1)
    unstarted.update(exit_code=None, started_at=None, finished_at=before, node="n1", message=why)
    assert f"worker-1 (rank 2) failed first: {why}" in page(client, failed)


def test_the_page_of_a_workload_that_never_started_says_why(
    client: Client, project: Project
) -> None:
    refused = WorkloadFactory(
        project=project,
        failed=True,
        ranks=RankPhase.PENDING,
        reason=Reason.IMAGE_UNKNOWN,
        message="No command is known for the image x:1.",
    )
    shown = page(client, refused)
    assert "It did not start" in shown
    assert "No command is known for the image x:1." in shown


def test_a_pending_workload_says_why_and_since_when(client: Client, project: Project) -> None:
    waiting = WorkloadFactory(
        project=project, pending=True, message="Not enough free capacity: 4 GPUs."
    )
    shown = page(client, waiting)
    assert "Waiting, queued" in shown
    assert "Not enough free capacity: 4 GPUs." in shown


def test_a_resumed_workload_says_from_which_step(client: Client, workload: Workload) -> None:
    Attempt.objects.create(workload=workload, run=2, attempt=0, resumed_step=120)
    assert "Continued from step 120" in page(client, workload)


def test_output_cannot_become_markup(client: Client, failed: Workload) -> None:
    logs.append(logs.Stream(failed.pk, 1, 0, 1), b"\n<script>alert(1)</script>\x1b[31mred\x1b[0m\n")
    for tab in ("", "logs/lines/"):
        shown = page(client, failed, tab)
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


def test_ranks_show_how_they_ended(client: Client, failed: Workload) -> None:
    shown = page(client, failed, "ranks/")
    assert "SIGTERM: asked to stop" in shown
    assert "exit code 143 (SIGTERM)" in shown


def test_ranks_on_nodes_that_number_no_devices_show_how_many_they_have(
    client: Client, project: Project
) -> None:
    workload = WorkloadFactory(project=project, pending=True)
    assert ">10 % of a GPU</td>" not in page(client, workload, "ranks/")
    workload.ranks.update(node="n1")
    assert ">10 % of a GPU</td>" in page(client, workload, "ranks/")


def test_the_metrics_page_says_why_its_cluster_tells_no_usage(
    client: Client, workload: Workload
) -> None:
    assert "It is sampled while ranks run" in page(client, workload, "metrics/")
    lacks = Finding(METERING, "Metrics API", Level.WARNING, "Install metrics-server.")
    Cluster.objects.update(findings_json=[asdict(lacks)])
    assert "reports no usage. Install metrics-server." in page(client, workload, "metrics/")


def test_events_show_who_did_what(client: Client, workload: Workload) -> None:
    events.record_phase(workload, actor=workload.created_by, verb="submit")
    events.record_note(workload, "worker-0 restarts", source="engine")
    shown = page(client, workload, "events/")
    assert "maria" in shown
    assert "worker-0 restarts" in shown
    assert client.get(f"/workloads/{workload.pk}/events/?before=x'").status_code == 200


def test_the_spec_shows_where_values_come_from(client: Client, workload: Workload) -> None:
    template = TemplateFactory(name="base", draft_json={"framework": "MPI"})
    Workload.objects.update(
        origins_json={"worker.image": "environment pytorch-dt"}, template=template
    )
    shown = page(client, workload, "spec/")
    assert "environment pytorch-dt" in shown
    assert "Difference from base" in shown
    assert "diff-removed" in shown


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, ""),
        (0, "exit code 0: succeeded"),
        (1, "exit code 1: the program ended with an error"),
        (127, "exit code 127: the command was not found"),
        (-9, "SIGKILL: killed"),
        (137, "exit code 137 (SIGKILL): killed"),
        (-11, "SIGSEGV: crashed"),
        (255, "exit code 255: an error code of the program"),
        (-64, "SIGRTMAX"),
        (42, "exit code 42: an error code of the program"),
    ],
)
def test_exit_codes_in_words(code: int | None, words: str) -> None:
    assert describe_exit(code).startswith(words)


def test_a_cluster_that_is_silent_is_told_where_something_is_active(
    client: Client, project: Project, failed: Workload
) -> None:
    active = WorkloadFactory(name="goes-on", project=project, running=True)
    state = {"state": State.DISCONNECTED, "state_message": "The API server does not answer."}
    Cluster.objects.filter(pk=project.cluster_id).update(**state)
    assert "is disconnected. This is the last known state." in page(client, active)
    assert "The API server does not answer." in page(client, active)
    assert "is disconnected" not in page(client, failed)


def test_the_title_of_the_window_names_the_tab(client: Client, project: Project) -> None:
    """Also where htmx swaps the tab alone, but not beside the table, whose title stays."""
    address = WorkloadFactory(name="seen", project=project).get_absolute_url()
    assert b"<title>seen \xc2\xb7 Trainyard</title>" in client.get(address).content
    title = "<title>seen · Logs · Trainyard</title>"
    asked = {"HX-Request": "true", "HX-Target": "workload-panel"}
    swapped = client.get(f"{address}logs/", headers=asked).content.decode()
    assert swapped.strip().startswith(title)
    assert client.get(f"{address}logs/").content.decode().count("<title>") == 1
    asked["HX-Current-URL"] = "http://testserver/workloads/"
    assert "<title>" not in client.get(f"{address}logs/", headers=asked).content.decode()


def test_project_cluster_and_author_are_links(client: Client, project: Project) -> None:
    workload = WorkloadFactory(project=project)
    shown = page(client, workload)
    author = f"/workloads/?f=creator:is:{workload.created_by.username}"
    for address in (f"/projects/{project.pk}/", f"/clusters/{workload.cluster_id}/", author):
        assert f'href="{address}"' in shown
        assert client.get(address).status_code == 200
    whole = client.get(f"/projects/{project.pk}/").content.decode()
    assert f'href="/workloads/?f=project:is:{project.name}"' in whole
    assert workload.name in client.get(f"/workloads/?f=project:is:{project.name}").content.decode()
