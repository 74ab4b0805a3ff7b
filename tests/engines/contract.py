"""What every engine must do. A module of tests subclasses :class:`EngineContract` and has a fixture
``rig``."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from engines.base import Engine, EngineRefused, EngineUnavailable, Handle, Launch, Observation
from spec.framework import Framework
from spec.parts.compute import Compute
from spec.phases import Phase, Reason
from spec.problems.errors import path_text
from spec.workload import Replica, WorkloadSpec
from tests.engines.reading import listed, logs, output, pieces
from tests.waiting import wait_for

DEADLINE = 60.0  # seconds; on a real cluster, a worker pauses between attempts to find its master
OVER = {Phase.COMPLETED, Phase.FAILED, Phase.STOPPED}


def launch(command: str | None = None, *, image: str = "some/image", **fields: Any) -> Launch:
    """Return a launch with one master and one worker that run ``command``. ``fields`` are fields of
    the spec."""
    worker = Replica(image=image, command=command, compute=Compute(gpu_devices_request=0))
    spec = WorkloadSpec(
        **{"distributed_framework": Framework.PYTORCH, "worker": worker, "backoff_limit": 0}
        | fields
    )
    return Launch(Handle(uuid4(), "demo", "team-a"), 1, spec)


class Rig(ABC):
    """An engine, and how it runs the programs that the contract needs."""

    engine: Engine
    pause = 0.005  # seconds between two observations; more if each is expensive

    @abstractmethod
    def prints(self) -> Launch:
        """Every rank prints a line ``hello``, and succeeds."""

    @abstractmethod
    def fails(self) -> Launch:
        """Rank 1 exits with code 3."""

    @abstractmethod
    def endless(self) -> Launch:
        """Runs until it is stopped."""

    @abstractmethod
    def asks_too_much(self) -> Launch:
        """The engine refuses more than one thing in this launch."""

    def went(self, launched: Launch) -> None:  # noqa: B027 -- a real cluster needs no help
        """Called after each submit: with a fake engine, this plays the cluster's part."""

    def submit(self, launched: Launch) -> Launch:
        """Submit a launch, and return it."""
        self.engine.submit(launched)
        self.went(launched)
        return launched

    def over(self, launched: Launch) -> Observation:
        """Wait until the run has ended, and return its observation."""
        return self.seen(launched, *OVER)

    def seen(self, launched: Launch, *phases: Phase) -> Observation:
        """Wait for one of the phases, and return the first observation of this run that has it."""
        found: list[Observation] = []

        def ask() -> bool:
            shown = self.engine.observe(launched.handle)
            right = shown and shown.run == launched.run and shown.phase in phases
            found.extend([shown] if shown and right else [])
            return bool(right)

        wait_for(ask, DEADLINE, f"{phases}", every=self.pause)
        return found[0]


class EngineContract:
    """The tests. ``rig`` is a fixture of the module."""

    def test_says_what_it_can_do(self, rig: Rig) -> None:
        offer = rig.engine.capabilities()
        assert offer.framework(Framework.PYTORCH).available
        assert all(f.why for f in offer.frameworks if not f.available)
        assert all(node.cpu > 0 and node.memory > 0 for node in rig.engine.nodes())

    def test_renders_one_document_for_each_rank_and_starts_nothing(self, rig: Rig) -> None:
        launched = rig.prints()
        assert len(rig.engine.render(launched)) >= 1
        assert rig.engine.observe(launched.handle) is None

    def test_says_everything_that_it_would_refuse(self, rig: Rig) -> None:
        launched = rig.asks_too_much()
        complaints = list(rig.engine.complaints(launched))
        assert len(complaints) > 1
        assert len({it.path for it in complaints}) == len(complaints)
        with pytest.raises(EngineRefused) as refusal:
            rig.engine.submit(launched)
        assert refusal.value.field == path_text(complaints[0].path)
        assert all(it.message in str(refusal.value) for it in complaints)
        assert rig.engine.observe(launched.handle) is None

    def test_has_nothing_against_what_it_runs(self, rig: Rig) -> None:
        assert list(rig.engine.complaints(rig.prints())) == []

    def test_runs_to_the_end(self, rig: Rig) -> None:
        launched = rig.submit(rig.prints())
        seen = rig.over(launched)
        assert (seen.phase, seen.reason) == (Phase.COMPLETED, Reason.NONE)
        assert [rank.exit_code for rank in seen.ranks] == [0, 0]

    def test_runs_again_after_its_end(self, rig: Rig) -> None:
        launched = rig.submit(rig.prints())
        rig.over(launched)
        again = replace(launched, run=2)

        def submit() -> bool:
            """Submit until it is accepted, as a worker does: what is left may have to go first."""
            with suppress(EngineUnavailable):
                rig.submit(again)
                return True
            return False

        wait_for(submit, DEADLINE, "the second run is accepted")
        seen = rig.over(again)
        assert (seen.phase, seen.run) == (Phase.COMPLETED, 2)

    def test_keeps_what_each_rank_wrote(self, rig: Rig) -> None:
        launched = rig.submit(rig.prints())
        rig.over(launched)
        (log,) = logs(rig.engine, launched.handle, 1)
        assert (log.run, log.rank, log.start) == (1, 1, 0)
        read = pieces(rig.engine, launched.handle, log)
        assert b"".join(piece.data for piece in read) == b"hello\n"
        cursor = read[-1].cursor
        again = rig.engine.read_log(launched.handle, log, offset=6, cursor=cursor, limit=100)
        assert (again.data, again.cursor, again.ended) == (b"", cursor, True)

    def test_tells_of_what_is_new(self, rig: Rig) -> None:
        launched = rig.submit(rig.prints())
        rig.over(launched)
        rig.engine.logs(launched.handle, run=1)
        news = rig.engine.news()
        assert news is None or launched.handle.workload_id in news

    def test_reads_nothing_where_nothing_was_written(self, rig: Rig) -> None:
        assert list(rig.engine.logs(rig.prints().handle, run=1)) == []
        assert rig.engine.usage(rig.prints().handle, run=1, after=None) == []

    def test_names_the_rank_that_failed(self, rig: Rig) -> None:
        seen = rig.over(rig.submit(rig.fails()))
        assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
        assert "worker-0" in seen.message
        assert seen.ranks[1].exit_code == 3

    def test_stops_and_runs_again(self, rig: Rig) -> None:
        launched = rig.submit(rig.endless())
        rig.seen(launched, Phase.RUNNING)
        rig.engine.stop(launched.handle, run=1)
        assert rig.over(launched).phase is Phase.STOPPED
        again = rig.submit(replace(launched, run=2))
        assert rig.seen(again, Phase.RUNNING).run == 2
        rig.engine.stop(launched.handle, run=1)  # late, and not about this run
        seen = rig.engine.observe(launched.handle)
        assert seen
        assert seen.phase is Phase.RUNNING

    def test_opens_no_terminal_where_nothing_runs(self, rig: Rig) -> None:
        with pytest.raises(EngineRefused):
            rig.engine.exec(rig.prints().handle, rank=0, argv=["/bin/sh"])

    def test_submitting_twice_is_once(self, rig: Rig) -> None:
        launched = rig.submit(rig.prints())
        first = rig.over(launched)
        rig.engine.submit(launched)
        assert rig.engine.observe(launched.handle) == first
        (log,) = logs(rig.engine, launched.handle, 1)
        assert output(rig.engine, launched.handle, log) == b"hello\n"

    def test_deletes_what_runs(self, rig: Rig) -> None:
        launched = rig.submit(rig.endless())
        rig.seen(launched, Phase.RUNNING)
        rig.engine.delete(launched.handle)
        assert rig.engine.observe(launched.handle) is None
        rig.engine.delete(launched.handle)
        rig.engine.stop(launched.handle, run=1)

    def test_watches_the_list_then_the_changes(self, rig: Rig) -> None:
        old = rig.submit(rig.prints())
        rig.over(old)
        watch = rig.engine.watch()
        there = {seen.workload_id: seen.phase for seen in listed(watch)}
        assert there[old.handle.workload_id] is Phase.COMPLETED
        new = rig.submit(rig.prints())
        seen = list(self._until_over(watch, new.handle.workload_id))
        assert seen[-1].phase is Phase.COMPLETED
        assert [s.sequence for s in seen] == sorted({s.sequence for s in seen})
        rig.engine.delete(new.handle)
        uid = new.handle.workload_id

        def is_gone() -> bool:
            one = next(watch)
            return bool(one and one.workload_id == uid and one.phase is None)

        wait_for(is_gone, DEADLINE)

    def test_watch_is_never_silent_for_a_second(self, rig: Rig) -> None:
        watch = rig.engine.watch()
        listed(watch)
        for _ in range(3):
            asked = time.monotonic()
            next(watch)
            assert time.monotonic() - asked < 1.0

    def _until_over(self, watch: Iterator[Observation | None], uid: UUID) -> Iterator[Observation]:
        deadline = time.monotonic() + DEADLINE
        for seen in watch:
            assert time.monotonic() < deadline
            if seen and seen.workload_id == uid:
                yield seen
                if seen.phase in OVER:
                    return
