"""What is the cluster's own fault shows on its page while workloads wait for it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clusters import services
from clusters.models import Cluster, State
from engines.findings import Finding, Level
from projects.models import Project
from spec.problems.causes import CauseKind
from tests.factories import WorkloadFactory
from workloads.models import CausePeriod
from workloads.worker import outages

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey", "engine")]
TITLE = "The scheduler kai-scheduler does not answer"


def waits(
    project: Project, *, kind: CauseKind = CauseKind.OPERATOR, seconds: float = 20
) -> CausePeriod:
    since = timezone.now() - timedelta(seconds=seconds)
    return CausePeriod.objects.create(
        workload=WorkloadFactory(project=project),
        run=1,
        kind=kind,
        title=TITLE,
        todo="Ask the cluster's administrator.",
        since=since,
    )


def told(project: Project) -> Cluster:
    outages.store_findings(project.cluster)
    return Cluster.objects.get(pk=project.cluster_id)


@pytest.fixture
def project(project: Project) -> Project:
    services.refresh(project.cluster)
    assert project.cluster.state == State.CONNECTED
    return project


def test_a_scheduler_that_workloads_wait_for_is_an_issue_of_the_cluster(project: Project) -> None:
    causes = [waits(project), waits(project)]
    cluster = told(project)
    assert cluster.state == State.ISSUES
    assert cluster.state_message == f"{TITLE}: 2 workloads wait. Ask the cluster's administrator."
    (finding,) = (one for one in cluster.findings if one.area == services.WORKLOADS)
    assert (finding.name, finding.level) == (TITLE, Level.ISSUE)
    causes[0].delete()
    assert told(project).state_message.startswith(f"{TITLE}: A workload waits.")
    causes[1].delete()
    assert (told(project).state, told(project).state_message) == (State.CONNECTED, "")


def test_the_cluster_is_looked_at_anew_when_what_workloads_wait_for_changes(
    project: Project, sent: list[tuple[Any, ...]]
) -> None:
    told(project)
    assert sent == [], "nothing changed"
    waits(project)
    told(project)
    told(project)
    assert [task for task, *_ in sent] == ["clusters.look"]


def test_brief_and_own_waits_are_no_issue_of_the_cluster(
    project: Project,
) -> None:
    waits(project, seconds=0)
    waits(project, kind=CauseKind.CAPACITY)
    assert told(project).state == State.CONNECTED


def test_a_look_at_the_cluster_keeps_what_workloads_wait_for(project: Project) -> None:
    waits(project)
    cluster = told(project)
    services.refresh(cluster)
    assert Cluster.objects.get(pk=cluster.pk).state == State.ISSUES


def test_a_cluster_that_is_away_stays_so(project: Project) -> None:
    Cluster.objects.update(state=State.DISCONNECTED, state_message="No answer.")
    waits(project)
    cluster = told(project)
    assert (cluster.state, cluster.state_message) == (State.DISCONNECTED, "No answer.")
    assert isinstance(cluster.findings[-1], Finding)


def test_a_cluster_that_was_deleted_while_it_was_watched_has_no_state(project: Project) -> None:
    cluster = Cluster.objects.get(pk=project.cluster_id)
    project.delete()
    cluster.delete()
    gone = Cluster(pk=project.cluster_id, name="gone")
    assert (
        services.store_waiting_findings(
            gone, (Finding(services.WORKLOADS, TITLE, Level.ISSUE, "It is away."),)
        )
        is False
    )
