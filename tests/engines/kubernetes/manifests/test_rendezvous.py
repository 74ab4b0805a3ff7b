"""How ranks find each other, where Trainyard tells them and where the operator does."""

import pytest

from spec.phases import Phase
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.engines.reading import printed

pytestmark = pytest.mark.kubernetes


@pytest.mark.parametrize("architecture", Architecture)
def test_pods_are_told_of_processes_as_torchrun_counts_them(
    rig: KubernetesRig, architecture: Architecture
) -> None:
    """With a master by the operator, without one by us."""
    names = ("WORLD_SIZE", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE")
    launched = rig.submit(
        rig.shell(
            f"echo {' '.join(f'${name}' for name in names)}; exec sleep 600",
            architecture=architecture,
            num_workers=1 if architecture is Architecture.WORKERS_AND_MASTER else 2,
            processes_per_pod=3,
        )
    )
    rig.seen(launched, Phase.RUNNING)
    lines = [printed(rig.engine, launched, rank, until=b"\n") for rank in range(2)]
    assert lines == [b"6 2 0 3\n", b"6 2 1 3\n"]
