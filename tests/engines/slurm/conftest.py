"""A real Slurm for the tests of this folder, or the reason why there is none."""

from collections.abc import Iterator

import pytest

from tests.engines.slurm.rig import SlurmRig
from tests.slurm_testbed import NO_SLURM, Testbed


@pytest.fixture(scope="session")
def testbed() -> Testbed:
    found = Testbed.running()
    if found is None:
        pytest.skip(NO_SLURM)
    return found


@pytest.fixture
def rig(testbed: Testbed) -> Iterator[SlurmRig]:
    found = SlurmRig(testbed)
    yield found
    found.clean()
