"""The tutorial's two examples run unchanged on this machine and on Slurm, and print the same."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spec.phases import Phase
from tests.engines.corpus.running import Result, make_launch, wait_for_result
from tests.engines.local.conftest import LocalRig
from tests.engines.slurm import tutorial
from tests.engines.slurm.rig import SlurmRig
from tests.slurm_testbed import NO_SLURM, Testbed

pytestmark = pytest.mark.slurm

#: What depends on time, and on the folder of the workload.
VARYING = re.compile(r'"samples_per_second": [\d.e+-]+|"/\S*/(?=checkpoints/)')
#: torch looks for the name of an address, which not every node has.
NAMELESS = "The hostname of the client socket cannot be retrieved"


@pytest.fixture
def slurm() -> Iterator[SlurmRig]:
    testbed = Testbed.running()
    if testbed is None:
        pytest.skip(NO_SLURM)
    rig = SlurmRig(testbed)
    yield rig
    rig.clean()


@pytest.fixture
def local(tmp_path: Path) -> LocalRig:
    return LocalRig(tmp_path / "engine")


@pytest.mark.parametrize("program", tutorial.PROGRAMS)
def test_an_example_prints_the_same_here_and_on_slurm(
    program: str, slurm: SlurmRig, local: LocalRig, tmp_path: Path
) -> None:
    with tutorial.followed(slurm.transport, slurm.site.directory) as folder:
        there = slurm.submit(make_launch(tutorial.settled(program, folder)))
        text = tutorial.settled(program, tutorial.follow_here(tmp_path))
        home = [{"name": "HOME", "value": str(tmp_path / "home")}]
        here = local.submit(make_launch(text, environmentVariables=home))
        on_local = wait_for_result(local, here)
        on_slurm = wait_for_result(slurm, there)
    assert on_local.phase is Phase.COMPLETED
    assert _comparable(on_local) == _comparable(on_slurm)


def _comparable(result: Result) -> dict[int, list[str]]:
    return {
        rank: [VARYING.sub("", line) for line in lines if NAMELESS not in line]
        for rank, lines in result.logs.items()
    }
