"""Writes many workloads straight into the database, for benchmarks of the table."""

import random
from datetime import datetime, timedelta
from uuid import uuid4

from django.utils import timezone

from accounts.models import User
from accounts.services import make_administrator
from clusters.models import Cluster
from projects.models import Department, Project
from spec.formats import documents
from spec.phases import Phase
from workloads.models import Workload

BATCH = 2_000
PHASES = [Phase.COMPLETED] * 7 + [Phase.FAILED] * 2 + [Phase.STOPPED]
SPEC = documents.dump_spec(
    documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "numWorkers": 2,
            "worker": {"image": "kubeflow/pytorch-dist-mnist:latest"},
        }
    )
)


def administrator() -> User:
    """Return the user that owns the workloads and signs in, and create it if it does not exist."""
    user = User.objects.filter(username="bench").first() or make_administrator("bench", "")
    user.is_staff = user.is_superuser = True  # Django's admin requires it
    user.save(update_fields=["is_staff", "is_superuser"])
    return user


def fill(count: int) -> list[Project]:
    """Create ``count`` workloads in ten projects, and return the projects."""
    cluster = Cluster.objects.create(name="bench")
    department = Department.objects.create(name="bench", cluster=cluster)
    projects = [
        Project.objects.create(name=f"team-{n}", cluster=cluster, department=department)
        for n in range(10)
    ]
    add_workloads(count, projects)
    return projects


def add_workloads(count: int, projects: list[Project]) -> None:
    """Create ``count`` workloads in these projects, one for every five minutes before now.

    The same count gives the same phases, projects and sizes.
    """
    chance = random.Random(count)  # noqa: S311 -- random rows, not secrets
    author = administrator()
    now = timezone.now()
    rows = (
        _row(n, chance, chance.choice(projects), author, now - timedelta(seconds=n * 300))
        for n in range(count)
    )
    Workload.objects.bulk_create(rows, batch_size=BATCH)


def _row(
    n: int, chance: random.Random, project: Project, author: User, created: datetime
) -> Workload:
    return Workload(
        id=uuid4(),
        name=f"train-{n:06}",
        project=project,
        cluster=project.cluster,
        created_by=author,
        spec_json=SPEC,
        phase=chance.choice(PHASES),
        created_at=created,
        queued_at=created,
        completed_at=created,
        framework="PyTorch",
        architecture="workers_and_master",
        image="kubeflow/pytorch-dist-mnist:latest",
        num_pods=3,
        gpus=chance.choice([0.3, 1.5, 3.0]),
        cpu_cores=0.3,
        memory_bytes=300_000_000,
        logs_complete=True,
    )
