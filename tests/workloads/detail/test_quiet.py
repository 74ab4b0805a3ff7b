"""A running workload that neither prints nor uses anything says so on its page."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from projects.models import Project
from tests.factories import WorkloadFactory
from workloads import logs
from workloads.detail.quiet import quiet_since
from workloads.models import Sample, SampleKind, Workload

BEGAN = timedelta(minutes=30)


@pytest.fixture
def hanging(project: Project, settings: Settings, tmp_path: Path) -> Workload:
    """Its ranks began half an hour ago, and have used nothing since."""
    settings.LOG_STORE = tmp_path
    workload: Workload = WorkloadFactory(project=project, running=True)
    workload.phase_updated_at = timezone.now() - BEGAN
    workload.save()
    use(workload, cpu=0.001)
    return workload


def use(workload: Workload, cpu: float) -> None:
    """Record what a rank has used in each minute until now."""
    now = timezone.now()
    workload.samples.all().delete()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            rank=0,
            at=now - timedelta(minutes=minutes),
            values={"cpu": cpu},
        )
        for minutes in range(30)
    )


def quiet(workload: Workload) -> datetime | None:
    return quiet_since(workload, timezone.now())


def test_a_gang_that_hangs_is_told_from_one_that_works(hanging: Workload) -> None:
    assert quiet(hanging) == hanging.phase_updated_at
    use(hanging, cpu=0.9)
    assert quiet(hanging) is None, "it uses a processor"
    hanging.samples.all().delete()
    assert quiet(hanging) is None, "nobody knows what it uses"


def test_output_ends_the_quiet(hanging: Workload) -> None:
    logs.append(logs.Stream(hanging.pk, hanging.run, hanging.attempt, 0), b"step 1\n")
    assert quiet(hanging) is None


def test_a_workspace_may_be_quiet(hanging: Workload) -> None:
    hanging.kind = "workspace"
    assert quiet(hanging) is None


def test_the_page_says_since_when(client: Client, hanging: Workload) -> None:
    address = f"/workloads/{hanging.pk}/"
    assert "Quiet" in client.get(address).content.decode()
    use(hanging, cpu=0.9)
    assert "Quiet" not in client.get(address).content.decode()
