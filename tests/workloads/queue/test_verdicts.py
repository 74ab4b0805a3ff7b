"""The hit rate of verdicts, for administrators."""

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Project
from tests.factories import WorkloadFactory
from tests.web import signed_in
from workloads.scheduling.fit.judge import Answer

pytestmark = pytest.mark.django_db


def address(project: Project) -> str:
    return f"/clusters/{project.cluster_id}/scheduling/"


def test_an_administrator_sees_how_often_verdicts_were_right(
    project: Project, administrator: User
) -> None:
    for seconds in (1, 2, 300):
        WorkloadFactory(
            project=project, running=True, verdict=Answer.NOW, first_wait_seconds=seconds
        )
    page = signed_in(administrator).get(address(project)).content.decode()
    assert "66.7 %" in page
    assert f'href="{address(project)}"' in page, "it is a tab of the cluster"


def test_the_hit_rate_is_for_administrators(project: Project, client: Client) -> None:
    assert "Hit rate" not in client.get(address(project)).content.decode()


def test_the_page_of_a_workload_says_what_was_foreseen(project: Project, client: Client) -> None:
    workload = WorkloadFactory(
        project=project, running=True, verdict=Answer.NOW, first_wait_seconds=2
    )
    page = client.get(workload.get_absolute_url()).content.decode()
    assert "Starts immediately. It started after 2 s" in page
