"""Watch all workloads: every one once, then those that change. See ``Engine.watch``.

One thread looks at the cluster, since Slurm may take longer to answer than a watch may be silent.
Another one asks accounting, which nothing else has to wait for.
"""

import queue
from collections.abc import Generator, Iterable
from datetime import UTC, datetime
from threading import Event, Thread
from uuid import UUID

from engines.base import Observation
from engines.shared.observations import is_same_state
from engines.slurm.layout import run_of
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.status.observation import GONE
from engines.slurm.watch.history import JobHistory
from engines.slurm.watch.poll import Bells, Glance, Looker
from spec.phases import ENDED

TICK = 0.5  # seconds between two signs of life
#: Seconds between two looks at the queue; more if Slurm is slow. All requests together should cost
#: Slurm no more than the queue alone would every five seconds.
INTERVAL = 5.5


class Results(queue.SimpleQueue[list[Observation] | Exception]):
    """The result of each look, or the error that ends the watch."""


class QueueWatcher:
    """Yields observations of what changed. ``history`` gets every glance after that; those that
    come while it asks accounting have to wait."""

    def __init__(self, looker: Looker, history: JobHistory) -> None:
        self.looker = looker
        self.history = history
        self._closing = Event()
        self._reported: dict[UUID, Observation] = {}
        self._bells = Bells({}, set(), "")
        self._states: dict[UUID, tuple[str, str]] = {}
        self._looked: list[Glance] = []
        self._gone = set[UUID]()
        self._asking = Thread()
        self._existing = set[UUID]()

    def watch(self) -> Generator[Observation | None]:
        results = Results()
        thread = Thread(target=self._look, args=(results,), daemon=True, name="slurm")
        thread.start()
        listed = False
        try:
            while True:
                try:
                    result = results.get(timeout=TICK)
                except queue.Empty:
                    if listed or not thread.is_alive():
                        yield None
                    continue
                if isinstance(result, Exception):
                    raise result
                yield from result
                listed = True
                yield None
        finally:
            self._closing.set()

    def _look(self, results: Results) -> None:
        look = self._list
        while not self._closing.wait(self.looker.queue.due):
            try:
                results.put(list(look()))
            except Exception as error:
                results.put(error)
                return
            look = self._changes
            if not self._asking.is_alive():
                words = results, self._looked, self._gone
                self._looked = []
                self._gone = set()
                self._asking = Thread(target=self._ask, args=words, daemon=True, name="history")
                self._asking.start()

    def _ask(self, results: Results, looked: Iterable[Glance], gone: Iterable[UUID]) -> None:
        try:
            self.history.ask_accounting(looked, datetime.now(UTC), gone=gone)
        except Exception as error:
            results.put(error)

    def _list(self) -> Iterable[Observation]:
        self._bells = self.looker.bells()
        jobs = self.looker.queue.next(self._closing)
        self._existing = self._bells.there or set()
        return self._news(self.looker.all(jobs))

    def _changes(self) -> Iterable[Observation]:
        """Observations of the workloads whose files or jobs have changed."""
        bells = self.looker.bells(self._bells.at)
        jobs = self.looker.queue.next(self._closing)
        states = states_of(jobs)
        before = self._bells
        active = {uid for uid, it in self._reported.items() if it.phase not in ENDED}
        changed = {uid for uid, at in bells.rung.items() if before.rung.get(uid) != at}
        changed |= {uid for uid, state in states.items() if self._states.get(uid) != state}
        changed |= {uid for uid in active if uid not in states}
        if bells.there is not None:
            changed |= bells.there ^ self._reported.keys()
            self._existing = bells.there
        self._bells = bells
        self._states = states
        glances = self.looker.some(changed, jobs)
        yield from self._news(glances)
        for uid in changed - {glance.uid for glance in glances} - self._existing:
            self._gone.add(uid)
            if last := self._reported.pop(uid, None):
                yield gone_from(last)

    def _news(self, glances: Iterable[Glance]) -> Iterable[Observation]:
        for glance in glances:
            self._looked.append(glance)
            now = glance.observation
            before = self._reported.get(glance.uid)
            if before is None or not is_same_state(before, now):
                self._reported[glance.uid] = now
                yield now


def states_of(jobs: Iterable[BatchJob]) -> dict[UUID, tuple[str, str]]:
    """The state in the queue by workload: if it changes, the workload is looked at."""
    results: dict[UUID, tuple[str, str]] = {}
    for job in jobs:
        if place := run_of(job.name):
            before = results.get(place[0], ("", ""))
            results[place[0]] = (before[0] + f"{job.id} {job.state} {job.nodes};", job.reason)
    return results


def gone_from(before: Observation) -> Observation:
    """The observation that a workload is no longer on the cluster."""
    return Observation(before.workload_id, before.run, GONE, None, datetime.now(UTC))
