"""The page says what a workload waits for, with the evidence, the next step and the history."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from projects.models import Project
from tests.factories import WorkloadFactory
from workloads.models import CausePeriod, Workload

SAID = "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) were unschedulable."
EVIDENCE = {"total": 12, "shares": [["too few free GPUs", 8], ["cordoned", 4]]}


@pytest.fixture
def waits(project: Project) -> Workload:
    workload: Workload = WorkloadFactory(name="digits", project=project, pending=True)
    long_ago = timezone.now() - timedelta(minutes=30)
    CausePeriod.objects.create(
        workload=workload, run=1, kind="Quota", title="The quota", since=long_ago,
        until=long_ago + timedelta(minutes=10),
    )  # fmt: skip
    CausePeriod.objects.create(
        workload=workload,
        run=1,
        kind="Capacity",
        title="Not enough free GPUs",
        todo="Ask for fewer GPUs.",
        said=SAID,
        evidence=EVIDENCE,
        since=long_ago + timedelta(minutes=10),
    )
    return workload


def page(client: Client, workload: Workload) -> str:
    return client.get(workload.get_absolute_url()).content.decode()


def test_the_cause_comes_with_its_evidence_and_the_next_step(
    client: Client, waits: Workload
) -> None:
    shown = page(client, waits)
    for text in ("Not enough free GPUs", "Ask for fewer GPUs.", "too few free GPUs", SAID):
        assert text in shown
    assert 'width="66.67"' in shown
    assert 'x="66.67"' in shown


def test_the_page_shows_how_long_it_waited_for_what(client: Client, waits: Workload) -> None:
    shown = page(client, waits)
    assert "10 min" in shown
    assert re.search(r"20 min( \d+ s)?, still", shown)


def test_the_page_of_a_running_workload_keeps_what_it_waited_for(
    client: Client, waits: Workload
) -> None:
    waits.causes.filter(until=None).update(until=timezone.now())
    Workload.objects.update(phase="Running")
    shown = page(client, waits)
    assert "Why it waits" not in shown
    assert "Wait history" in shown


def test_a_workload_that_waits_without_a_cause_shows_its_message(
    client: Client, waits: Workload
) -> None:
    waits.causes.all().delete()
    Workload.objects.update(message="It is number 3 in the queue.")
    shown = page(client, waits)
    assert "It is number 3 in the queue." in shown
    assert "Wait history" not in shown
