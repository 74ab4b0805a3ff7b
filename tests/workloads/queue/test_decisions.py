"""What admission decided is kept, and replayed for whom may see it."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.web import signed_in
from tests.workloads.gangs import waiting
from workloads.models import AdmissionDecision, Workload
from workloads.scheduling import admission
from workloads.scheduling.order import decisions
from workloads.worker import sweep

pytestmark = pytest.mark.django_db
TAGS = re.compile(r"<[^>]+>")


def texts(**chosen: object) -> list[tuple[str, str]]:
    rows = AdmissionDecision.objects.filter(**chosen).order_by("pk")
    return list(rows.values_list("workload__name", "kind"))


def shown(client: Client, project: Project, query: str = "") -> str:
    page = client.get(f"/clusters/{project.cluster_id}/scheduling/{query}").content.decode()
    return " ".join(TAGS.sub(" ", page).split())


def test_each_decision_is_kept_with_its_round(decided: Project) -> None:
    assert texts() == [
        ("guest", "started"),
        ("zanzibar", "started"),
        ("zanzibar", "taken back"),
        ("claim", "waits"),
        ("behind", "waits"),
    ]
    assert AdmissionDecision.objects.values("at").distinct().count() == 2
    taken = AdmissionDecision.objects.get(kind="taken back")
    assert taken.other == Workload.objects.get(name="claim")


def test_a_decision_that_stays_the_same_is_not_kept_again(decided: Project) -> None:
    count = AdmissionDecision.objects.count()
    for _ in range(3):
        admission.admit_waiting(decided.cluster)
    assert AdmissionDecision.objects.count() == count


def test_the_next_head_of_the_queue_is_no_news_to_all_behind(project: Project) -> None:
    for name in ("holder", "head", "next", "last"):
        waiting(project, name, 4)
    admission.admit_waiting(project.cluster)
    Workload.objects.filter(name="head").update(phase=Phase.STOPPED)
    admission.admit_waiting(project.cluster)
    assert Workload.objects.get(name="last").message.startswith("Waiting behind next")
    assert texts(workload__name="last") == [("last", "waits")]
    assert texts(workload__name="next") == [("next", "waits")] * 2


def test_a_second_start_for_the_same_reason_is_kept(project: Project) -> None:
    waiting(project, "again", 1)
    admission.admit_waiting(project.cluster)
    Workload.objects.filter(name="again").update(phase=Phase.PENDING, run=2)
    admission.admit_waiting(project.cluster)
    assert texts() == [("again", "started")] * 2


def test_a_renamed_blocker_adds_no_decision(project: Project) -> None:
    """Whether it stays behind others is told by the rows, whatever the words are."""
    for name in ("holder", "head", "last"):
        waiting(project, name, 4)
    admission.admit_waiting(project.cluster)
    AdmissionDecision.objects.filter(workload__name="last").update(why="Behind another.")
    Workload.objects.filter(name="last").update(message="Behind another.")
    admission.admit_waiting(project.cluster)
    assert texts(workload__name="last") == [("last", "waits")]


def test_a_workload_that_was_taken_back_keeps_why_it_waits_once(decided: Project) -> None:
    guest = Workload.objects.get(name="zanzibar")
    guest.move(Phase.STOPPED)
    guest.move(Phase.RESUMING, run=2)
    guest.move(Phase.PENDING, reason=Reason.PREEMPTED, message="Taken back.")
    guest.ranks.update(gpu_devices=[])
    for _ in range(3):
        admission.admit_waiting(decided.cluster)
    assert texts(workload=guest).count(("zanzibar", "waits")) == 1
    assert Workload.objects.get(pk=guest.pk).message == "Taken back."


def test_decisions_are_kept_for_a_while_and_not_beyond_a_number(
    decided: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "MAX_DECISIONS", 3)
    decisions.prune(timezone.now())
    assert texts() == [("zanzibar", "taken back"), ("claim", "waits"), ("behind", "waits")]
    decisions.prune(timezone.now() + decisions.RETENTION - timedelta(minutes=1))
    assert len(texts()) == 3
    decisions.prune(timezone.now() + decisions.RETENTION + timedelta(minutes=1))
    assert not texts()


@pytest.mark.usefixtures("valkey")
def test_the_sweep_cuts_old_decisions(decided: Project) -> None:
    AdmissionDecision.objects.update(at=timezone.now() - decisions.RETENTION - timedelta(days=1))
    sweep.sweep()
    assert not texts()


def test_an_administrator_reads_each_round(decided: Project, administrator: User) -> None:
    page = shown(signed_in(administrator), decided)
    why = "Taken back by a workload of another project, within its quota."
    assert f"zanzibar hidden Taken back {why} claim" in page
    assert "guest hidden Started Over the quota of hidden" in page


def test_members_read_of_their_own_workloads_alone(client: Client, decided: Project) -> None:
    page = shown(client, decided)
    assert "claim team-a Waits It is within the quota of team-a." in page
    assert "zanzibar" not in page
    assert "guest" not in page
    assert "Verdicts before submission" not in page


def test_decisions_are_found_by_workload_and_project(
    decided: Project, other_project: Project, administrator: User
) -> None:
    browser = signed_in(administrator)
    assert "claim team-a" not in shown(browser, decided, "?q=zanz")
    assert "zanzibar hidden" in shown(browser, decided, "?q=zanz")
    assert "zanzibar hidden" not in shown(browser, decided, f"?project={decided.pk}")
    assert "No results" in shown(browser, decided, "?q=nothing")
    assert "guest hidden" in shown(browser, decided, f"?project={other_project.pk}&page=x")


def test_a_cluster_with_a_queue_of_its_own_says_so(client: Client, project: Project) -> None:
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    assert "scheduler decides when workloads start" in shown(client, project)
