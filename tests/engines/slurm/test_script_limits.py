"""A batch script is judged by the partition, the account and the QOS that it names."""

from dataclasses import replace

import pytest

from engines.base import Launch, Site
from engines.partitions import BillingAccount, JobLimits, NodeShape, Partition, ServiceLevel
from engines.slurm import charging, limits
from engines.slurm.script.site import SlurmSite
from spec.problems.errors import path_text
from spec.workload import WorkloadSpec
from tests.engines.slurm import cases

GPU_NODE = NodeShape(4, cpus=4, memory=8000, gpus=2, features=("a100",))
CPU_NODE = NodeShape(2, cpus=4, memory=8000, gpus=0)
PARTITIONS = (
    Partition("debug", is_default=True, max_seconds=300, max_nodes=1, nodes=(CPU_NODE,)),
    Partition("gpu", max_seconds=86_400, nodes=(GPU_NODE,)),
    Partition("long", nodes=(GPU_NODE,)),
    Partition("private", accounts=("speech",), qos=("high",), nodes=(GPU_NODE,)),
    Partition("picky", denied_accounts=("vision",), nodes=(GPU_NODE,)),
)
ACCOUNTS = (
    BillingAccount("root"),
    BillingAccount(
        "vision", is_default=True, is_own=True, qos=("high", "low"), most=JobLimits(gpus=6)
    ),
    BillingAccount("speech", is_own=True, qos=("high",)),
)
LEVELS = (
    ServiceLevel("low"),
    ServiceLevel("high"),
    ServiceLevel("other"),
    ServiceLevel("capped", JobLimits(gpus=1, seconds=60)),
)
KNOWN = Site(partitions=PARTITIONS, accounts=ACCOUNTS, qos=LEVELS)
SHARED = SlurmSite("/shared")
OWN_NAMES = SlurmSite("/shared", own_names=True)


def script(*lines: str) -> Launch:
    text = "".join(f"#SBATCH {line}\n" for line in lines)
    return replace(cases.as_written(f"#!/bin/bash\n{text}srun hostname\n"), site=KNOWN)


def list_complaints(launched: Launch, site: SlurmSite = SHARED) -> list[tuple[str, str]]:
    found = [*charging.complaints(launched, site), *limits.complaints(launched, site)]
    return [(path_text(it.path), it.message) for it in found]


@pytest.mark.parametrize(
    "lines",
    [
        ("--partition=long --time=3-0",),
        ("-p gpu", "--gres=gpu:2", "--nodes=4", "-t 1-0"),
        ("-p gpu --ntasks=4 --gres=gpu:1",),
        ("-p gpu --gpus=7 --ntasks=3",),
        ("-p gpu -n 30 --overcommit",),
        ("-p debug,long --nodes=2",),
        ("-p gpu -A vision -q low",),
        ("-p YOUR_PARTITION",),  # its line is refused already
    ],
)
def test_what_the_named_partition_starts_is_not_refused(lines: tuple[str, ...]) -> None:
    assert list_complaints(script(*lines)) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("-n 1", "--partition=debug", "--time=1:00:00"), "line 4: the partition debug allows 5"),
        (("--partition=debug", "--nodes=2"), "line 3: it takes 2 nodes, and the partition debug"),
        (("--partition=nowhere",), "line 2: the cluster has no partition nowhere"),
        (("-p private -q high",), "line 2: the partition private is for speech"),
        (("-p picky",), "line 2: the partition picky is not for the account vision"),
        (("--nodes=5", "-p gpu"), "line 2: it takes 5 nodes, and the partition gpu has 4"),
        (("-p gpu", "-n 17"), "line 3: it takes 17 CPU cores, and the nodes of gpu have 16"),
        (("-p gpu", "-c 5"), "line 3: a job may have 4 CPU cores on a node of gpu"),
        (("-p gpu", "--mem=9G"), "line 3: a job may have 8.39 GB of memory"),
        (("-p gpu", "--gres=gpu:3"), "line 3: the nodes of gpu have 2 GPUs at most"),
        (("-p gpu", "--gpus=9", "-n 2"), "line 3: it takes 9 GPUs, and the nodes of gpu have 8"),
        (("--gpus=1", "-t 1"), "line 2: debug has no GPUs"),
        (("-p gpu", "-C h100"), "line 3: no node of the partition gpu has the feature h100"),
        (("-p debug,picky --nodes=9",), "line 2: none of the partitions would start it: it takes"),
        (("-p gpu", "-q gold"), "line 3: Slurm has no QOS gold, only capped, high, low, other"),
        (("-p gpu", "-q other"), "line 3: the account vision may use the QOS high, low, not other"),
    ],
)
def test_what_is_forbidden_is_refused_at_its_line(lines: tuple[str, ...], words: str) -> None:
    ((place, message), *others) = list_complaints(script(*lines))
    assert (place, others) == ("batchScript", [])
    assert message.startswith(words)


def test_a_script_charges_the_account_of_its_project_alone() -> None:
    launched = script("-p gpu", "--account=speech")
    expected = "line 3: jobs of this project are charged to the account vision, not to speech"
    assert list_complaints(launched)[0][1].startswith(expected)
    projects = SlurmSite("/shared", accounts={launched.handle.project: "speech"})
    assert list_complaints(launched, projects) == []
    unknown = replace(launched, site=Site(partitions=PARTITIONS))
    assert list_complaints(unknown) == []


def test_people_may_name_any_account_that_exists() -> None:
    assert list_complaints(script("-p gpu", "-A speech -q other"), OWN_NAMES) == []
    ((_, message),) = list_complaints(script("-p gpu", "-A physics"), OWN_NAMES)
    assert message == "line 3: Slurm has no account physics"
    hidden = replace(KNOWN, accounts=ACCOUNTS[1:])  # only the user's own are shown
    assert list_complaints(replace(script("-p gpu", "-A physics"), site=hidden), OWN_NAMES) == []


def gang(workers: int, gpus: int) -> Launch:
    launched = cases.single()
    compute = launched.spec.worker.compute.model_copy(update={"gpu_devices_request": gpus})
    worker = launched.spec.worker.model_copy(update={"compute": compute})
    spec: WorkloadSpec = launched.spec.model_copy(update={"worker": worker, "num_workers": workers})
    return replace(launched, spec=spec, site=KNOWN)


@pytest.mark.parametrize(
    ("launched", "words"),
    [
        (gang(3, 2), ""),
        (gang(7, 1), "the account vision allows 6 GPUs at once, and it asks for 7 GPUs"),
        (script("-p gpu --gres=gpu:2 --nodes=4"), "the account vision allows 6 GPUs at once"),
        (script("-q capped --gpus=2 -n 2"), "the QOS capped allows 1 GPU at once, and it asks"),
        (script("-q capped -t 2"), "the QOS capped allows 1 min, and"),
    ],
)
def test_what_exceeds_the_limit_of_an_account_or_qos_is_known(launched: Launch, words: str) -> None:
    assert charging.excess(launched, SHARED).startswith(words)
    assert bool(charging.excess(launched, SHARED)) == bool(words)


def test_the_default_account_of_people_is_not_known() -> None:
    assert charging.excess(gang(7, 1), OWN_NAMES) == ""
