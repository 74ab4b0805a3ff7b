"""Nodes are read from what scontrol prints, in old and new releases."""

from dataclasses import replace
from pathlib import Path

import pytest

from engines.partitions import NodeShape
from engines.slurm.cluster.nodes import parse_nodes
from engines.slurm.cluster.partitions import parse_partitions
from spec.parts.scheduling import NODE_TYPE

RECORDED = Path(__file__).parent / "recorded"

LINE = (
    "NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=1 CPUEfctv=4 CPUTot=4 CPULoad=2.51 "
    "AvailableFeatures=a100,linux ActiveFeatures=a100,linux Gres=gpu:a100:2(S:0) NodeAddr=10.0.0.1 "
    "OS=Linux 6.1.0 #1 SMP  RealMemory=8000 AllocMem=500 State={} Partitions=gpu,cpu "
    "CfgTRES=cpu=4,mem=8000M,gres/gpu=2 AllocTRES=cpu=1,mem=500M,gres/gpu=1 "
    "Reason=bad disk [root@x]"
)


def test_a_node_has_what_slurm_says_of_it() -> None:
    (node,) = parse_nodes(LINE.format("MIXED+PLANNED"))
    assert (node.name, node.cpu, node.memory, node.ready) == ("n1", 4.0, 8000 * 1024**2, True)
    assert [gpu.model for gpu in node.gpus] == ["a100", "a100"]
    assert node.labels[NODE_TYPE] == "a100"
    assert {"slurm.partition/gpu", "slurm.partition/cpu", "slurm.feature/linux"} < set(node.labels)
    assert node.allocated
    assert (node.allocated.cpu, node.allocated.gpus) == (1.0, 1.0)


def test_a_node_that_is_away_says_why() -> None:
    for state in ("DOWN*", "IDLE+DRAIN", "MIXED*"):
        (node,) = parse_nodes(LINE.format(state))
        assert not node.ready
        assert node.message == f"Slurm says {state}: bad disk [root@x]"


@pytest.mark.parametrize("release", ["22.05", "24.11"])
def test_a_release_is_read_as_it_was_recorded(release: str) -> None:
    (node,) = parse_nodes((RECORDED / f"{release}-node.txt").read_text())
    assert (node.name, node.cpu, node.memory, node.ready) == ("n1", 4.0, 8000 * 1024**2, True)
    assert [gpu.model for gpu in node.gpus] == ["a100", "a100"]
    assert node.allocated
    assert (node.allocated.cpu, node.allocated.gpus) == (1.0, 1.0)
    both = [node, replace(node, name="n2")]
    (gpu,) = parse_partitions((RECORDED / f"{release}-partition.txt").read_text(), both)
    assert (gpu.name, gpu.is_default, gpu.max_seconds, gpu.closed) == ("gpu", True, 86_400, "")
    assert gpu.nodes == (NodeShape(2, 4, 8000, 2, ("a100", "linux"), "a100"),)
