"""A cluster in memory instead of processes, and gangs in its queue."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from clusters import connections
from engines.fake import FakeEngine
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.phases import Phase
from spec.workload import WorkloadSpec
from tests.clusters.answering import answers
from tests.factories import ProjectFactory, WorkloadFactory
from workloads.models import Workload


@pytest.fixture
def engine(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> Iterator[FakeEngine]:
    """The engine that answers for all local clusters."""
    settings.LOG_STORE = tmp_path
    fake = FakeEngine()
    answers(monkeypatch, "local", lambda cluster: fake)
    connections.forget_engines()
    yield fake
    connections.forget_engines()


@pytest.fixture
def project(db: None) -> Project:
    """A project with a quota of 4 GPUs, on a machine with 4 GPUs."""
    return ProjectFactory(gpu_quota=4)


def gang(gpus: int, *, workers: int = 1) -> WorkloadSpec:
    """Return a spec of workers that request so many GPUs each."""
    compute = {"gpuDevicesRequest": gpus}
    return documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": "workers_only",
            "numWorkers": workers,
            "worker": {"image": "x:1", "compute": compute},
        }
    )


def draft(project: Project, gpus: int) -> WorkloadDraft:
    """Return a draft of a single worker that requests so many GPUs."""
    values = {"image": "x:1", "compute": {"gpuDevicesRequest": gpus}}
    return WorkloadDraft(
        name="train",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values=values),
    )


def waiting(project: Project, name: str, gpus: int, *, workers: int = 1) -> Workload:
    """Create a pending gang of workers with so many GPUs each. Gangs queue in the order of
    creation."""
    spec = gang(gpus, workers=workers)
    return WorkloadFactory(
        name=name,
        project=project,
        phase=Phase.PENDING,
        spec_json=documents.dump_spec(spec),
        architecture="workers_only",
        num_pods=workers,
        gpus=gpus * workers,
        cpu_cores=spec.cpu_cores,
        memory_bytes=spec.memory_bytes,
    )


def phases(*workloads: Workload) -> list[str]:
    """Return the present phases of workloads."""
    return [Workload.objects.get(pk=workload.pk).phase for workload in workloads]


def now(workload: Workload) -> Workload:
    """Return the row as it is now, as a task would load it."""
    return Workload.objects.select_related("project", "cluster", "created_by").get(pk=workload.pk)
