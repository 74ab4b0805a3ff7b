"""A launch is compared with the limits of the cluster's partitions before it is submitted."""

from dataclasses import asdict

import pytest

from clusters.connections import complaints
from clusters.models import Cluster
from clusters.nodes import store
from engines.base import Capabilities
from engines.nodes import Allocation, Gpu, NodeInfo
from engines.partitions import BillingAccount, JobLimits, NodeShape, Partition
from projects.models import Project
from spec.framework import Framework
from spec.parts.compute import Compute, GpuRequestType
from spec.problems.errors import path_text
from spec.workload import Architecture, Replica, WorkloadSpec
from tests.engines.contract import launch
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.scheduling.fit.foresight import predict, working_repairs
from workloads.scheduling.fit.judge import Answer
from workloads.scheduling.fit.repairs import ComputeChoice

pytestmark = pytest.mark.django_db
TINY = Partition("tiny", max_seconds=300, nodes=(NodeShape(4, 2, 4000, 0),))


def test_the_partition_of_the_cluster_bounds_its_workloads() -> None:
    offer = Capabilities((), queues=True, partitions=(TINY,))
    cluster = Cluster.objects.create(
        name="hpc",
        kind="slurm",
        settings_json={"directory": "/shared", "partition": "tiny"},
        capabilities_json=asdict(offer),
    )
    launched = launch("true", num_workers=9, time_limit_seconds=301)
    places = [path_text(it.path) for it in complaints(cluster, launched.handle, launched.spec)]
    assert places == ["timeLimitSeconds", "numWorkers"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "6 GPUs at once (account vision)"),
        ({"account": "speech"}, "None (account speech)"),
        ({"account": "other"}, "Account other, whose limits Slurm does not show"),
        ({"host": "login", "run_as": "people"}, "Those of each person&#x27;s default account"),
    ],
)
def test_the_page_of_a_project_shows_what_slurm_lets_it_use(
    settings: dict[str, str], said: str
) -> None:
    accounts = (
        BillingAccount("vision", "6 GPUs at once", is_default=True),
        BillingAccount("speech"),
    )
    offer = Capabilities((), queues=True, accounts=accounts)
    admin = UserFactory(administrator=True)
    project = ProjectFactory()
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared", **settings}
    cluster.capabilities_json = asdict(offer)
    cluster.save()
    page = signed_in(admin).get(project.get_absolute_url()).content.decode()
    assert "Limits of Slurm" in page
    assert said in page


@pytest.fixture
def slurm_project() -> Project:
    """A project on a Slurm cluster with four nodes, and room for six GPUs in its account."""
    project = ProjectFactory(members=[UserFactory()])
    partition = Partition("gpu", is_default=True, nodes=(NodeShape(4, 8, 8000, 4),))
    account = BillingAccount(
        "vision", "6 GPUs at once", is_default=True, is_own=True, most=JobLimits(gpus=6)
    )
    offer = Capabilities((), queues=True, partitions=(partition,), accounts=(account,))
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared"}
    cluster.capabilities_json = asdict(offer)
    cluster.save()
    nodes = [
        NodeInfo(
            f"n{number}",
            cpu=8,
            memory=8000 * 2**20,
            gpus=tuple(Gpu(index, "A100", 0) for index in range(4)),
            allocated=Allocation(0, 0, 0),
        )
        for number in range(4)
    ]
    store.store(cluster, nodes)
    return project


def gang(workers: int) -> WorkloadSpec:
    compute = Compute(gpu_devices_request=1)
    worker = Replica(command="python train.py", compute=compute)
    return WorkloadSpec(
        worker=worker,
        num_workers=workers,
        architecture=Architecture.WORKERS_ONLY,
        distributed_framework=Framework.PYTORCH,
    )


def test_more_than_the_account_allows_never_starts(slurm_project: Project) -> None:
    cluster = slurm_project.cluster
    assert predict(cluster, slurm_project, gang(6)).fit.answer is Answer.NOW
    ahead = predict(cluster, slurm_project, gang(7))
    assert (ahead.fit.answer, ahead.fit.largest) == (Answer.NEVER, 6)
    assert ahead.fit.cause
    title = "The account vision allows 6 GPUs at once, and it asks for 7 GPUs"
    assert ahead.fit.cause.title == title


def test_only_repairs_that_slurm_accepts_are_offered(slurm_project: Project) -> None:
    cluster = slurm_project.cluster
    half = Compute(
        gpu_devices_request=1, gpu_request_type=GpuRequestType.PORTION, gpu_portion_request=0.5
    )
    choices = [ComputeChoice("half", "half-gpu", half)]
    ahead = predict(cluster, slurm_project, gang(7))
    repairs = working_repairs(cluster, slurm_project, gang(7), ahead, choices)
    assert [it.change for it in repairs] == ["workers=6"]


def test_a_batch_script_has_no_repairs(slurm_project: Project) -> None:
    cluster = slurm_project.cluster
    text = "#!/bin/bash\n#SBATCH --ntasks=7 --gpus-per-task=1\nsrun python train.py\n"
    spec = gang(7).model_copy(update={"batch_script": text})
    ahead = predict(cluster, slurm_project, spec)
    assert ahead.fit.answer is Answer.NEVER
    assert working_repairs(cluster, slurm_project, spec, ahead) == []


def test_a_script_that_its_partition_forbids_never_starts(slurm_project: Project) -> None:
    text = "#!/bin/bash\n#SBATCH --partition=none\nsrun python train.py\n"
    spec = gang(1).model_copy(update={"batch_script": text})
    fit = predict(slurm_project.cluster, slurm_project, spec).fit
    assert fit.answer is Answer.NEVER
    assert fit.cause
    assert fit.cause.title.startswith("Line 2: the cluster has no partition none")
