"""The fake keeps the contract that the real engines keep."""

from dataclasses import replace

import pytest

from engines.base import EngineUnavailable, Launch
from engines.fake import FakeEngine
from spec.phases import Phase, RankPhase, Reason
from spec.problems.errors import Problem
from tests.engines.contract import EngineContract, Rig, launch


class FakeRig(Rig):
    """Plays each program at once."""

    def __init__(self) -> None:
        self.fake = self.engine = FakeEngine()

    def prints(self) -> Launch:
        return launch("prints")

    def fails(self) -> Launch:
        return launch("fails")

    def endless(self) -> Launch:
        return launch("endless")

    def asks_too_much(self) -> Launch:
        self.fake.complains = [
            Problem(("nodePools",), "there are none"),
            Problem(("worker", "connections", 0, "name"), "is odd"),
        ]
        return launch("prints")

    def went(self, launched: Launch) -> None:
        handle = launched.handle
        program = launched.spec.worker.command
        running = self.fake.show(handle, Phase.RUNNING)
        if program == "prints":
            for rank in (0, 1):
                self.fake.print(handle, rank, "hello\n")
            done = [replace(r, phase=RankPhase.SUCCEEDED, exit_code=0) for r in running.ranks]
            self.fake.show(handle, Phase.COMPLETED, ranks=done)
        if program == "fails":
            ranks = [running.ranks[0], replace(running.ranks[1], exit_code=3)]
            message = "worker-0 (rank 1) exited with code 3."
            self.fake.show(
                handle, Phase.FAILED, reason=Reason.RANK_FAILED, message=message, ranks=ranks
            )


@pytest.fixture
def rig() -> FakeRig:
    return FakeRig()


class TestFake(EngineContract):
    """All of it."""


def test_the_fake_engine_fails_as_it_is_told() -> None:
    engine = FakeEngine(raises=EngineUnavailable("away"))
    with pytest.raises(EngineUnavailable, match="away"):
        engine.submit(launch("prints"))
    engine.raises = None
    engine.submit(launch("prints"))
    assert len(engine.launches) == 1
