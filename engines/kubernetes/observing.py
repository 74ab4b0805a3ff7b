"""From a job and its pods to one observation: the phase, why, and every rank. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID

from engines.base import Manifest, Observation, RankState
from engines.kubernetes.kinds import RUN, Kind, workload_of
from engines.kubernetes.pods import (
    Seen,
    condition,
    exit_words,
    failure_reason,
    holds,
    moment,
)
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role

#: An end is final within its run, and so later than anything else seen of that run. What is left
#: of a stopped job is older than its last pod was, hence the bit above every resource version.
END = 1 << 62
ORDER_BITS = 16
WHOLE = (1 << ORDER_BITS) - 1  # the order of a look that misses nothing up to its newest version
REPLACED = "A rank lost its pod; another one is on its way."
ENDS = {Phase.STOPPED, Phase.COMPLETED, Phase.FAILED}
GATHERING = timedelta(seconds=5)  # a pod made later than this after the first one replaces another


@dataclass(frozen=True)
class Look:
    """A job and its pods at one moment. The first match decides on the phase."""

    kind: Kind
    job: Manifest
    pods: tuple[Seen, ...]

    @classmethod
    def at(cls, kind: Kind, job: Manifest, pods: Iterable[Manifest]) -> "Look":
        return cls(kind, job, tuple(Seen(pod, kind) for pod in pods))

    def observation(self, *, floor: int = 0, order: int = 0) -> Observation:
        """``floor`` is the newest resource version seen of it, that of pods now gone included.

        ``order`` tells looks apart that have the same newest version: jobs and pods arrive by
        different watches, so a change may arrive after a later one.
        """
        phase, reason, message = self._judge()
        newest = max([floor, version(self.job), *(version(seen.pod) for seen in self.pods)])
        return Observation(
            workload_id=self.workload_id,
            run=run_of(self.job),
            sequence=sequence(newest, order) | (END if phase in ENDS else 0),
            phase=phase,
            at=self._at,
            attempt=max((seen.restarts for seen in self.pods), default=0),
            reason=reason,
            message=message,
            ranks=tuple(self.ranks(ended=phase in ENDS)),
        )

    @property
    def workload_id(self) -> UUID:
        found = workload_of(self.job["metadata"]["labels"])
        assert found  # noqa: S101 -- only labelled jobs are looked at
        return found

    @cached_property
    def slots(self) -> list[tuple[Role, int]]:
        """Every rank by its place: the master first."""
        replicas = self.job["spec"][self.kind.replicas]
        found = [
            (self.kind.role(name), index)
            for name, replica in replicas.items()
            for index in range(replica.get("replicas", 1))
        ]
        return sorted(found, key=lambda slot: (slot[0] is not Role.MASTER, slot[1]))

    @cached_property
    def present(self) -> dict[tuple[Role, int], Seen]:
        """The newest pod of each rank, those that leave included."""
        ordered = sorted(self.pods, key=lambda seen: (not seen.is_leaving, seen.created))
        return {(seen.role, seen.index): seen for seen in ordered}

    def ranks(self, *, ended: bool) -> Iterator[RankState]:
        for number, slot in enumerate(self.slots):
            seen = self.present.get(slot)
            state = seen.rank(number) if seen else RankState(number, *slot, RankPhase.PENDING)
            cut_short = ended and state.phase in {RankPhase.PENDING, RankPhase.RUNNING}
            yield replace(state, phase=RankPhase.STOPPED) if cut_short else state

    def _judge(self) -> tuple[Phase, Reason, str]:
        status = self.job.get("status") or {}
        if holds(status, "Succeeded"):
            return Phase.COMPLETED, Reason.NONE, ""
        if holds(status, "Failed"):
            return Phase.FAILED, *self._failure(condition(status, "Failed").get("message", ""))
        if self.job["spec"].get("runPolicy", {}).get("suspend"):
            settled = holds(status, "Suspended") or not status.get("conditions")
            done = settled and not self.pods
            return Phase.STOPPED if done else Phase.STOPPING, Reason.STOPPED_BY_USER, ""
        return self._alive()

    def _alive(self) -> tuple[Phase, Reason, str]:
        here = [seen for seen in self.present.values() if not seen.is_leaving]
        ready = [seen for seen in here if seen.is_ready]
        waiting = [seen for seen in here if not seen.is_ready and not seen.is_over]
        missing = len(self.slots) - len(here)
        if ready and (self._lost(waiting, ready, missing) or self._failed(here)):
            return Phase.DEGRADED, *self._first_trouble(here, REPLACED)
        if missing or not all(seen.is_scheduled for seen in here):
            told = "" if here else "Waiting for the operator to make the pods."
            return Phase.PENDING, *self._first_trouble(here, told)
        if waiting:
            reason, why = self._first_trouble(waiting, "")
            restarting = any(seen.restarts for seen in waiting)
            return Phase.INITIALIZING, Reason.RESTARTING if restarting else reason, why
        return Phase.RUNNING, Reason.NONE, ""

    def _lost(self, waiting: list[Seen], ready: list[Seen], missing: int) -> bool:
        """Whether a gang that was together is so no longer; at its start it has yet to gather."""
        first = min(seen.created for seen in ready)
        replaced = any(s.restarts or s.created > first + GATHERING for s in waiting)
        return replaced or (missing > 0 and not waiting)

    def _failed(self, here: list[Seen]) -> bool:
        return any(seen.phase is RankPhase.FAILED for seen in here)

    def _first_trouble(self, among: list[Seen], otherwise: str) -> tuple[Reason, str]:
        for seen in sorted(among, key=self._number):
            reason, why = seen.trouble
            if why:
                return reason, f"{self._name(seen)}: {why}"
        return Reason.NONE, otherwise

    def _failure(self, otherwise: str) -> tuple[Reason, str]:
        """The rank that failed first, for the others often only follow."""
        failures = [(end, seen) for seen in self.pods for end in seen.failures]
        if not failures:
            return Reason.RANK_FAILED, otherwise
        end, seen = min(failures, key=lambda it: (it[0]["finishedAt"], self._number(it[1])))
        return failure_reason(end), f"{self._name(seen)} {exit_words(end)}."

    def _name(self, seen: Seen) -> str:
        return f"{seen.role}-{seen.index} (rank {self._number(seen)})"

    def _number(self, seen: Seen) -> int:
        slot = (seen.role, seen.index)
        return self.slots.index(slot) if slot in self.slots else len(self.slots)

    @property
    def _at(self) -> datetime:
        """When the cluster wrote down the last thing that we see."""
        conditions = (self.job.get("status") or {}).get("conditions") or []
        times = [moment(one["lastTransitionTime"]) for one in conditions]
        times += [at for seen in self.pods for at in (seen.created, seen.started_at) if at]
        times += [seen.finished_at for seen in self.pods if seen.finished_at]
        return max([moment(self.job["metadata"]["creationTimestamp"]), *times])


def version(item: Manifest) -> int:
    """Resource versions of one cluster are revisions of one store, and grow with every change."""
    return int(item["metadata"]["resourceVersion"])


def sequence(newest: int, order: int) -> int:
    return newest << ORDER_BITS | order


def run_of(job: Manifest) -> int:
    text = (job["metadata"].get("annotations") or {}).get(RUN, "")
    return int(text) if text.isdigit() else 1
