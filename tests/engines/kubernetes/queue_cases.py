"""The queues whose manifests are in ``golden-queues.yaml``. Run as a program, this file writes
them."""

from pathlib import Path

import yaml

from engines.kubernetes.cluster.queues import manifests
from engines.queues import Queue
from tests.engines.kubernetes.plain_yaml import Plain

GOLDEN = Path(__file__).parent / "golden-queues.yaml"
WANTED = [
    Queue("team-a", "research", gpus=2.5, cpu=16, memory=64 * 10**9, weight=1),
    Queue("research", "research", gpus=4, cpu=None, memory=1_500_000, weight=0),
    Queue("research", "", gpus=6.5, cpu=None, memory=64 * 10**9 + 1_500_000, weight=1),
    Queue("blocked", "none", gpus=0, cpu=0.5, memory=0, weight=0),
    Queue("none", "", gpus=0, cpu=0.5, memory=0, weight=0),
    Queue("vision", "capped", gpus=4, cpu=None, memory=None, weight=1),
    Queue("capped", "", gpus=3, cpu=None, memory=10**9, weight=0),
    Queue("research", "", 8, None, None, weight=2.5, gpu_limit=12, pool="a100"),
    Queue("team-a", "research", 8, 64, None, weight=2, gpu_limit=16, priority=120, pool="a100"),
]


def text() -> str:
    made = manifests(WANTED, "trainyard-")
    return str(yaml.dump_all(made, Dumper=Plain, sort_keys=False, width=100))


if __name__ == "__main__":
    GOLDEN.write_text(text())
