"""What no partition would start is said before submission, and what one of them would is not."""

from dataclasses import replace
from typing import Any

import pytest

from engines.base import Launch, Site
from engines.partitions import NodeShape, Partition
from engines.slurm.cluster.nodes import parse_nodes
from engines.slurm.cluster.partitions import parse_partitions, parse_seconds
from engines.slurm.limits import complaints
from engines.slurm.script.directives import options
from engines.slurm.script.site import SlurmSite
from spec.parts.compute import DEFAULT_MEMORY, Compute
from spec.problems.errors import path_text
from spec.workload import Replica
from tests.engines.contract import launch

BIG = NodeShape(2, cpus=8, memory=16_000, gpus=2, features=("a100",))
SMALL = NodeShape(2, cpus=4, memory=8_000, gpus=0)
MAIN = Partition("main", is_default=True, max_seconds=7200, max_nodes=3, nodes=(BIG, SMALL))
SHORT = Partition("short", max_seconds=300, max_nodes=1, nodes=(SMALL,))
SITE = SlurmSite("/shared")


def asking(
    compute: Compute, *pools: str, there: tuple[Partition, ...] = (MAIN, SHORT), **fields: Any
) -> Launch:
    """For 1 master and workers that ask for the same."""
    worker = Replica(command="true", compute=compute, node_type=fields.pop("node_type", None))
    labels = {name: (f"slurm.partition/{name}", "") for name in ("main", "short", "closed")}
    launched = launch("true", worker=worker, node_pools=pools, **fields)
    return replace(launched, site=Site(pools=labels, partitions=there))


def said(launched: Launch) -> dict[str, str]:
    return {path_text(it.path): it.message for it in complaints(launched, SITE)}


@pytest.mark.parametrize(
    "launched",
    [
        asking(Compute(cpu_core_request=4), num_workers=2),
        asking(Compute(gpu_devices_request=2), num_workers=1),
        asking(Compute(), time_limit_seconds=7200),
        asking(Compute(), "main", "short", time_limit_seconds=7200),  # one of them would do
        asking(Compute(cpu_core_request=100), there=()),  # nobody knows
        asking(Compute(cpu_core_request=100), there=(replace(MAIN, nodes=None),)),
    ],
)
def test_a_job_that_one_partition_would_start_has_no_complaints(launched: Launch) -> None:
    assert said(launched) == {}


@pytest.mark.parametrize(
    ("launched", "place", "words"),
    [
        (asking(Compute(), time_limit_seconds=7201), "timeLimitSeconds", "main allows 2 h"),
        (asking(Compute(cpu_core_limit=9)), "worker.compute.cpuCoreLimit", "8 CPU cores"),
        (
            asking(Compute(cpu_memory_request="20G")),
            "worker.compute.cpuMemoryRequest",
            "16.8 GB of memory",
        ),
        (asking(Compute(gpu_devices_request=3)), "worker.compute.gpuDevicesRequest", "2 GPUs"),
        (asking(Compute(gpu_devices_request=1), "short"), "worker.compute.gpuDevicesRequest", "no"),
        (asking(Compute(cpu_core_request=8), num_workers=2), "numWorkers", "of 3 ranks only 2 fit"),
        (asking(Compute(cpu_core_request=3), num_workers=4), "", ""),
        (asking(Compute(cpu_core_request=4), num_workers=5), "numWorkers", "takes 4 nodes"),
        (asking(Compute(), node_type="h100"), "worker.nodeType", "feature h100"),
        (asking(Compute(), "closed"), "nodePools", "no partition closed, only main, short"),
    ],
)
def test_a_limit_that_forbids_a_job_is_said_by_its_place(
    launched: Launch, place: str, words: str
) -> None:
    found = said(launched)
    assert list(found) == [place] * bool(place)
    assert words in found.get(place, "")


def test_a_partition_that_takes_no_jobs_or_not_the_accounts_is_named() -> None:
    drained = replace(MAIN, closed="DRAIN")
    assert "it is DRAIN" in said(asking(Compute(), there=(drained,)))["nodePools"]
    picky = replace(MAIN, denied_accounts=("vision",))
    denied = complaints(asking(Compute(), there=(picky,)), SlurmSite("/shared", account="vision"))
    assert "is not for the account vision" in next(denied).message
    private = replace(MAIN, accounts=("speech",))
    launched = asking(Compute(), there=(private,))
    (problem,) = complaints(launched, SlurmSite("/shared", account="vision"))
    assert "is for speech" in problem.message
    assert said(launched) == {}  # whose default account nobody knows


def test_of_several_partitions_each_says_why() -> None:
    found = said(asking(Compute(), "main", "short", time_limit_seconds=10_000))
    assert "main allows 2 h" in found["nodePools"]
    assert "short allows 5 min" in found["nodePools"]


def test_the_time_that_slurm_gives_is_within_the_limit_of_the_partition() -> None:
    launched = asking(Compute(), time_limit_seconds=7200)
    assert dict(options(launched, SITE))["time"] == "120"
    free = replace(launched, site=Site())
    assert dict(options(free, SITE))["time"] == "122"


PARTITION = (
    "PartitionName=gpu AllowAccounts={} Default=YES MaxNodes={} MaxTime=1-00:00:00 "
    "MaxCPUsPerNode=UNLIMITED Nodes=n1 State={} TotalNodes=1 MaxMemPerNode=UNLIMITED"
)
NODE = (
    "NodeName=n1 CPUTot=4 CPUEfctv=4 ActiveFeatures=a100,linux Gres=gpu:a100:2 RealMemory=8000 "
    "State=DOWN* Partitions=gpu,cpu AllocTRES="
)


def test_partitions_are_read_with_their_nodes_whether_or_not_those_are_up() -> None:
    (gpu,) = parse_partitions(PARTITION.format("ALL", "UNLIMITED", "UP"), parse_nodes(NODE))
    shape = NodeShape(1, 4, 8000, 2, ("a100", "linux"), "a100")
    assert gpu == Partition("gpu", is_default=True, max_seconds=86_400, nodes=(shape,))
    (other,) = parse_partitions(PARTITION.format("a,b", "2", "INACTIVE"), [])
    assert (other.closed, other.max_nodes, other.accounts) == ("INACTIVE", 2, ("a", "b"))
    assert other.nodes is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1-12:00:00", 129_600),
        ("12:00:00", 43_200),
        ("5:00", 300),
        ("90", 5400),
        ("2-0", 172_800),
        ("UNLIMITED", None),
    ],
)
def test_times_are_read_as_slurm_prints_them(text: str, expected: int | None) -> None:
    assert parse_seconds(text) == expected


@pytest.mark.parametrize(
    ("compute", "asked"),
    [
        (Compute(), None),  # the default request, which nobody means
        (Compute(cpu_memory_limit=DEFAULT_MEMORY), "96M"),
        (Compute(cpu_memory_request="200M", cpu_memory_limit="400M"), "382M"),
        (Compute(cpu_memory_request="200M"), "191M"),
    ],
)
def test_a_memory_limit_counts_even_if_it_equals_the_default_request(
    compute: Compute, asked: str | None
) -> None:
    assert dict(options(asking(compute), SITE)).get("mem-per-cpu") == asked
