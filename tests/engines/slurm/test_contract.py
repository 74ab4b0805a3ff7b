"""The Slurm engine keeps the contract, with real jobs."""

import pytest

from engines.base import Launch
from tests.engines.contract import EngineContract
from tests.engines.slurm.rig import SlurmRig
from tests.engines.terminal import TerminalContract
from tests.workloads.terminal.pipes import exchange
from workloads.terminal import piped


@pytest.mark.slurm
class TestSlurm(EngineContract):
    """All of it, with the rig of this folder."""


@pytest.mark.slurm
class TestTerminal(TerminalContract):
    """All of it, by ``srun --overlap --pty``."""

    def test_pipes_carry_every_byte(self, rig: SlurmRig, running: Launch) -> None:
        program = rig.engine.exec(running.handle, rank=1, argv=piped.piped_command(["cat"]))
        every_byte = bytes(range(256)) * 100
        assert exchange(program, every_byte) == (every_byte, 0)
