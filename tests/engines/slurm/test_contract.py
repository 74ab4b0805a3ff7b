"""The Slurm engine keeps the contract, with real jobs."""

import pytest

from tests.engines.contract import EngineContract
from tests.engines.terminal import TerminalContract


@pytest.mark.slurm
class TestSlurm(EngineContract):
    """All of it, with the rig of this folder."""


@pytest.mark.slurm
class TestTerminal(TerminalContract):
    """All of it, by ``srun --overlap --pty``."""
