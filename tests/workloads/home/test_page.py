"""The overview: its panels, its scope, and what it says on the first day."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from accounts.models import User
from clusters.models import State
from projects.models import Project
from tests.factories import ProjectFactory, WorkloadFactory
from tests.web import HTMX, signed_in
from workloads.home import now
from workloads.home.scope import HomeScope
from workloads.models import Sample, SampleKind, Workload


def test_a_sign_in_leads_to_the_overview(db: None) -> None:
    assert Client().get("/")["Location"] == "/accounts/login/?next=/"


def test_someone_without_a_project_is_told_whom_to_ask(stranger: User, administrator: User) -> None:
    page = signed_in(stranger).get("/").content.decode()
    assert "You are not in a project yet" in page
    assert "Ask root to add you" in page
    assert "NEW WORKLOAD" not in page
    assert "There is no project yet" in signed_in(administrator).get("/").content.decode()


def test_someone_who_submitted_nothing_yet_reads_how_to_begin(
    client: Client, project: Project
) -> None:
    assert "Choose a template." in client.get("/").content.decode()


def test_the_scope_limits_every_panel_to_one_project(
    client: Client, project: Project, member: User
) -> None:
    other = ProjectFactory(name="team-b", members=[member])
    WorkloadFactory(name="digits", project=project, created_by=member, running=True)
    WorkloadFactory(name="letters", project=other, created_by=member, running=True)
    page = client.get(f"/?scope={project.pk}").content.decode()
    assert "digits" in page
    assert "letters" not in page
    hidden = ProjectFactory()
    assert "letters" in client.get(f"/?scope={hidden.pk}").content.decode()


def test_panels_come_alone_for_htmx(client: Client, workload: Workload) -> None:
    part = client.get("/", **HTMX).content.decode()
    assert 'id="home-panels"' in part
    assert "<nav" not in part.partition('id="home-panels"')[0]


def test_the_time_left_follows_from_the_last_samples(workload: Workload, member: User) -> None:
    workload.last_metrics = {"step": 100, "total_steps": 400}
    workload.save()
    at = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.TRAINING,
            run=1,
            rank=0,
            step=step,
            at=at - timedelta(seconds=100 - step),
            values={},
        )
        for step in (80, 90, 100)
    )
    (row,) = now.running_rows(HomeScope(member))
    assert row.progress == 0.25
    assert row.seconds_left == 300


def test_free_gpus_are_those_of_clusters_that_answer(project: Project, member: User) -> None:
    WorkloadFactory(project=project, created_by=member, running=True, gpus=1.5)
    counts = now.count_workloads(HomeScope(member))
    assert (counts.running, counts.running_gpus) == (1, 1.5)
    assert (counts.free_gpus, counts.total_gpus) == (2.5, 4)
    project.cluster.state = State.DISCONNECTED
    project.cluster.save()
    assert now.count_workloads(HomeScope(member)).total_gpus == 0


def test_a_cluster_that_does_not_answer_is_named_with_its_workloads(
    client: Client, workload: Workload
) -> None:
    cluster = workload.cluster
    cluster.state = State.DISCONNECTED
    cluster.state_message = "Nothing listens there."
    cluster.save()
    page = client.get("/").content.decode()
    assert "has never answered." in page
    assert "1 workload keeps the state of then." in page
