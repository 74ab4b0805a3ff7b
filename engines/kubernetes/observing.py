"""From a job and its pods to one observation: the phase, why, and every rank. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from engines.base import Manifest, Observation, RankState
from engines.kubernetes import causes, preempted
from engines.kubernetes.ends import exit_words, failure_reason
from engines.kubernetes.events import said_at
from engines.kubernetes.kinds import GAVE_UP, RUN, Kind, workload_of
from engines.kubernetes.pods import Seen, condition, holds, moment
from engines.kubernetes.preempted import Preemption
from spec.causes import Cause, CauseKind
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role

#: An end is final within its run, and so later than anything else seen of that run, hence the bit
#: above every resource version. Stopped is none: who suspends a job may go on with it.
END = 1 << 62
ORDER_BITS = 16
WHOLE = (1 << ORDER_BITS) - 1  # the order of a look that misses nothing up to its newest version
REPLACED = "A rank lost its pod; another one is on its way."
UNMADE = Cause(
    CauseKind.OPERATOR,
    "Waiting for the operator to make the pods",
    "When this lasts, the training operator does not run: ask the cluster's administrator.",
)
BEREFT = replace(UNMADE, title="All its pods are gone; the operator has to make new ones")
FINAL = {Phase.COMPLETED, Phase.FAILED}
ENDS = FINAL | {Phase.STOPPED}
GATHERING = timedelta(seconds=5)  # a pod made later than this after the first one replaces another


class Verdict(NamedTuple):
    phase: Phase
    reason: Reason = Reason.NONE
    message: str = ""
    cause: Cause | None = None


@dataclass(frozen=True)
class Look:
    """A job and its pods at one moment. The first match decides on the phase."""

    kind: Kind
    job: Manifest
    pods: tuple[Seen, ...]
    group: Manifest | None = None
    warnings: tuple[Manifest, ...] = ()  # events about the job itself, oldest first
    preemptions: Mapping[str, Preemption] = field(default_factory=dict)  # by name of the pod

    @classmethod
    def at(
        cls,
        kind: Kind,
        job: Manifest,
        pods: Iterable[Manifest],
        *,
        group: Manifest | None = None,
        warnings: Iterable[Manifest] = (),
    ) -> "Look":
        """``group`` is KAI's pod group; ``warnings`` are events about the job and its pods."""
        about: dict[str, list[Manifest]] = {}
        warnings = list(warnings)
        for one in warnings:
            about.setdefault(one["involvedObject"].get("uid", ""), []).append(one)
        seen = (Seen(pod, kind, tuple(about.get(pod["metadata"]["uid"], ()))) for pod in pods)
        start = began(job)  # what was said of the job in an earlier run explains nothing now
        mine = (one for one in about.get(job["metadata"]["uid"], ()) if said_at(one) >= start)
        others = preempted.told(warnings, since=start)
        return cls(kind, job, tuple(seen), group, tuple(mine), others)

    def observation(self, *, floor: int = 0, order: int = 0) -> Observation:
        """``floor`` is the newest resource version up to which nothing is missing, or that of
        what was seen of it, pods now gone included.

        ``order`` tells looks apart that have the same newest version: jobs and pods arrive by
        different watches, so a change may arrive after a later one.
        """
        phase, reason, message, cause = self._judge()
        own = max([version(self.job), *(version(seen.pod) for seen in self.pods)])
        final = phase in FINAL
        return Observation(
            workload_id=self.workload_id,
            run=run_of(self.job),
            sequence=sequence(own, order) | END if final else sequence(max(floor, own), order),
            phase=phase,
            at=self._at,
            attempt=max((seen.restarts for seen in self.pods), default=0),
            reason=reason,
            message=message,
            ranks=tuple(self.ranks(phase)),
            cause=cause,
        )

    @property
    def workload_id(self) -> UUID:
        found = workload_of(self.job["metadata"]["labels"])
        assert found  # noqa: S101 -- only labelled jobs are looked at
        return found

    @property
    def is_suspended(self) -> bool:
        return bool((self.job["spec"].get("runPolicy") or {}).get("suspend"))

    @property
    def _annotations(self) -> dict[str, str]:
        return dict(self.job["metadata"].get("annotations") or {})

    @property
    def hopeless(self) -> str:
        """Which rank lacks its data for good, in words; empty while none does.

        The operators count the restarts of pods that run, and no pod runs before its init
        containers are done: without us these would be started for ever.
        """
        limit = (self.job["spec"].get("runPolicy") or {}).get("backoffLimit")
        for seen in sorted(self.present.values(), key=self._number):
            last = seen.unprepared
            if limit and last and seen.has_spent(limit):
                return f"{self._name(seen)} {exit_words(last)}. It was tried {last['tries']} times."
        return ""

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

    def ranks(self, phase: Phase) -> Iterator[RankState]:
        """As they stand, or as they ended with a workload in this phase."""
        for number, slot in enumerate(self.slots):
            seen = self.present.get(slot)
            state = seen.rank(number) if seen else RankState(number, *slot, RankPhase.PENDING)
            if phase in ENDS and state.phase in {RankPhase.PENDING, RankPhase.RUNNING}:
                failed = seen.failed(state) if seen and phase is Phase.FAILED else None
                state = failed or replace(state, phase=RankPhase.STOPPED)
            if seen and (why := self._gave_way(seen)):
                state = replace(state, reason=why.reason, message=why.words)
            yield state

    def _judge(self) -> Verdict:
        status = self.job.get("status") or {}
        if holds(status, "Succeeded"):
            return Verdict(Phase.COMPLETED)
        if holds(status, "Failed"):
            why = self._failure(condition(status, "Failed").get("message", ""))
            return Verdict(Phase.FAILED, *why)
        if self.is_suspended and (given_up := self._annotations.get(GAVE_UP)):
            return Verdict(Phase.FAILED, Reason.RANK_FAILED, given_up)
        if self.is_suspended:
            settled = holds(status, "Suspended") or not status.get("conditions")
            done = settled and not self.pods
            return Verdict(Phase.STOPPED if done else Phase.STOPPING, Reason.STOPPED_BY_USER)
        verdict = self._alive()
        if verdict.phase in {Phase.PENDING, Phase.DEGRADED} and (gave_way := self._preempted()):
            return verdict._replace(reason=gave_way[0], message=gave_way[1])
        return verdict

    def _gave_way(self, seen: Seen) -> Preemption | None:
        runs = seen.is_ready and not seen.is_leaving
        done = runs or seen.phase is RankPhase.SUCCEEDED
        return None if done else preempted.of(seen, self.preemptions)

    def _preempted(self) -> tuple[Reason, str] | None:
        """The first rank that had to give way and does not run again yet."""
        for seen in sorted(self.present.values(), key=self._number):
            if why := self._gave_way(seen):
                return why.reason, f"{self._name(seen)} {why.words}."
        return None

    def _alive(self) -> Verdict:
        here = [seen for seen in self.present.values() if not seen.is_leaving]
        ready = [seen for seen in here if seen.is_ready]
        waiting = [seen for seen in here if not seen.is_ready and not seen.is_over]
        failed = [seen for seen in here if seen.phase is RankPhase.FAILED]
        held_up = waiting + failed
        missing = len(self.slots) - len(here)
        if ready and (failed or self._lost(waiting, ready, missing)):
            cause = self._cause(held_up, missing) if held_up else None
            return Verdict(Phase.DEGRADED, *self._first_trouble(here, REPLACED), cause)
        if missing or not all(seen.is_scheduled for seen in here):
            cause = self._cause(here, missing)
            why = (cause.reason, cause.message) if cause else self._first_trouble(here, "")
            return Verdict(Phase.PENDING, *why, cause)
        if waiting:
            reason, why_not = self._first_trouble(held_up, "")
            restarting = any(seen.restarts for seen in waiting)
            reason = Reason.RESTARTING if restarting else reason
            return Verdict(Phase.INITIALIZING, reason, why_not, self._cause(held_up, 0))
        return Verdict(Phase.RUNNING)

    def _cause(self, among: list[Seen], missing: int) -> Cause | None:
        """The one that explains most: of the whole gang, of pods never made, of the first rank."""
        cause = causes.grouped(self.group) if not all(s.is_scheduled for s in among) else None
        cause = cause or (causes.not_made(self.warnings) if missing else None)
        if cause or not among:
            return cause or (BEREFT if self.pods else UNMADE)
        for seen in sorted(among, key=self._number):
            if found := seen.cause:
                return replace(found, who=self._name(seen))
        return None

    def _lost(self, waiting: list[Seen], ready: list[Seen], missing: int) -> bool:
        """Whether a gang that was together is so no longer; at its start it has yet to gather."""
        first = min(seen.created for seen in ready)
        replaced = any(s.restarts or s.created > first + GATHERING for s in waiting)
        return replaced or (missing > 0 and not waiting)

    def _first_trouble(self, among: list[Seen], otherwise: str) -> tuple[Reason, str]:
        for seen in sorted(among, key=self._number):
            reason, why = seen.trouble
            if why:
                return reason, f"{self._name(seen)}: {why}"
        return Reason.NONE, otherwise

    def _failure(self, otherwise: str) -> tuple[Reason, str]:
        """The rank that failed first, for the others often only follow; sooner yet one that had to
        give way to somebody else."""
        if why := self._preempted():
            return why
        failures = [(end, seen) for seen in self.pods for end in seen.failures]
        if not failures:
            return Reason.RANK_FAILED, otherwise
        end, seen = min(failures, key=lambda it: (*_finished(it[0]), self._number(it[1])))
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


def began(job: Manifest) -> datetime:
    """When the present run did, as far as the cluster tells runs apart."""
    resumed = condition(job.get("status") or {}, "Suspended")
    return moment(resumed.get("lastTransitionTime") or job["metadata"]["creationTimestamp"])


def _finished(end: Manifest) -> tuple[bool, str]:
    """To compare by. Of a container that vanished with its node kubelet does not know when."""
    at = end.get("finishedAt")
    return not at, at or ""


def was_resumed(job: Manifest) -> bool:
    """Whether it goes on after it was suspended."""
    suspended = (job["spec"].get("runPolicy") or {}).get("suspend")
    status = job.get("status") or {}
    ended = holds(status, "Succeeded") or holds(status, "Failed")
    return not suspended and not ended and condition(status, "Suspended").get("status") == "False"
