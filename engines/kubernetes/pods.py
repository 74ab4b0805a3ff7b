"""What a pod shows, as the state of a rank."""

import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engines.base import Manifest, RankState
from engines.kubernetes import causes
from engines.kubernetes.ends import exit_code, exit_words, failure_reason, unstarted
from engines.kubernetes.kinds import JOB_ROLE, REPLICA_INDEX, REPLICA_TYPE, Kind
from engines.kubernetes.sources import FETCHER
from engines.kubernetes.unplaced import unscheduled
from spec.causes import Cause
from spec.phases import RankPhase, Reason
from spec.workload import Role

STATES = ("state", "lastState")  # of a container: how it is, and how it was before it restarted
REMOVED = {128 + signal.SIGTERM, 128 + signal.SIGKILL}
PHASES = {"Succeeded": RankPhase.SUCCEEDED, "Failed": RankPhase.FAILED}


@dataclass(frozen=True)
class Seen:
    """A pod of a job, read once. ``warnings`` are the cluster's events about it, oldest first."""

    pod: Manifest
    kind: Kind
    warnings: tuple[Manifest, ...] = ()

    @property
    def role(self) -> Role:
        labels = self.pod["metadata"]["labels"]
        return self.kind.role(labels.get(REPLICA_TYPE) or labels.get(JOB_ROLE, ""))

    @property
    def index(self) -> int:
        return int(self.pod["metadata"]["labels"].get(REPLICA_INDEX, 0))

    @property
    def uid(self) -> str:
        return str(self.pod["metadata"]["uid"])

    @property
    def name(self) -> str:
        return str(self.pod["metadata"]["name"])

    @property
    def path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    @property
    def status(self) -> Manifest:
        return dict(self.pod.get("status") or {})

    @property
    def is_leaving(self) -> bool:
        return bool(self.pod["metadata"].get("deletionTimestamp"))

    @property
    def created(self) -> datetime:
        return moment(self.pod["metadata"]["creationTimestamp"])

    @property
    def container(self) -> Manifest:
        """The status of the container that trains; empty before there is one."""
        found = self.status.get("containerStatuses") or []
        return next((one for one in found if one["name"] == self.kind.container), {})

    @property
    def ended(self) -> Manifest | None:
        """How the container ended: now, or, while it waits to be restarted, the last time. One that
        is removed at the backoff limit ended with what failed before, not with its removal."""
        now, before = ((self.container.get(key) or {}).get("terminated") for key in STATES)
        was_removed = now and self.is_leaving and now.get("exitCode") in REMOVED
        return before if before and (was_removed or not now) else now

    @property
    def failures(self) -> list[Manifest]:
        """The ends that the cluster remembers and that were no success: the last two at most, or
        that of what runs before."""
        states = (self.container.get(key) or {} for key in reversed(STATES))
        ends = (state.get("terminated") or {} for state in states)
        found = [end for end in ends if end.get("exitCode")]
        return found or ([self.unprepared] if self.unprepared and self.is_over else [])

    @property
    def unprepared(self) -> Manifest | None:
        """How the init container ended that failed last, with its name and how often it was tried;
        ``None`` if all is well."""
        for one in self.status.get("initContainerStatuses") or []:
            state, last = one.get("state") or {}, one.get("lastState") or {}
            ended = state.get("terminated") or last.get("terminated") or {}
            if ended.get("exitCode"):
                tries = int(one.get("restartCount", 0)) + ("running" not in state)
                return {**ended, "name": one["name"], "tries": tries}
        return None

    def has_spent(self, limit: int) -> bool:
        """Whether data was fetched anew as often as the limit allows, and in vain."""
        last = self.unprepared
        if last is None or self.is_over:
            return False
        return bool(last["name"].startswith(FETCHER) and last["tries"] > limit)

    @property
    def restarts(self) -> int:
        return int(self.container.get("restartCount", 0))

    @property
    def is_running(self) -> bool:
        return "running" in (self.container.get("state") or {})

    @property
    def starts(self) -> list[int]:
        """Those starts of its container whose output the cluster has: the current one, and the one
        before it once that is another."""
        state, last = self.container.get("state") or {}, self.container.get("lastState") or {}
        ended = "terminated" in last
        if "running" in state or "terminated" in state:
            return (
                [self.restarts - 1, self.restarts] if self.restarts and ended else [self.restarts]
            )
        return [self.restarts] if ended else []

    @property
    def is_scheduled(self) -> bool:
        return bool(self.pod["spec"].get("nodeName"))

    @property
    def is_ready(self) -> bool:
        running = "running" in (self.container.get("state") or {})
        return running and bool(self.container.get("ready"))

    @property
    def is_over(self) -> bool:
        return self.status.get("phase") in PHASES

    @property
    def phase(self) -> RankPhase:
        over = PHASES.get(self.status.get("phase", ""))
        return over or (RankPhase.RUNNING if self.is_ready else RankPhase.PENDING)

    @property
    def started_at(self) -> datetime | None:
        state = self.container.get("state") or {}
        now = state.get("running") or self.ended or {}
        at = now.get("startedAt") if not unstarted(now) else None  # else it is that of 1970
        return moment(at) if at else None

    @property
    def finished_at(self) -> datetime | None:
        at = (self.ended or {}).get("finishedAt") if not self.is_ready else None
        return moment(at) if at else None

    def rank(self, number: int) -> RankState:
        reason, message = self.trouble
        return RankState(
            rank=number,
            role=self.role,
            index=self.index,
            phase=self.phase,
            node=self.pod["spec"].get("nodeName", ""),
            restarts=self.restarts,
            exit_code=exit_code(self.ended) if self.ended and not self.is_ready else None,
            reason=reason,
            message=message,
            started_at=self.started_at,
            finished_at=self.finished_at,
        )

    def failed(self, state: RankState) -> RankState | None:
        """The rank when its last failure was one too many for its job, which by then may have been
        started once more; ``None`` where it never failed."""
        ended = self.ended
        if not ended or not ended.get("exitCode"):
            return None
        at = ended.get("finishedAt")
        return replace(
            state,
            phase=RankPhase.FAILED,
            exit_code=exit_code(ended),
            reason=failure_reason(ended),
            message=exit_words(ended),
            finished_at=moment(at) if at else None,
        )

    @property
    def trouble(self) -> tuple[Reason, str]:
        """Why it does not run, in words; empty where nothing is wrong."""
        ended = self.ended
        if ended and not self.is_ready and ended.get("exitCode"):
            return failure_reason(ended), exit_words(ended)
        if self.unprepared and self.is_over:
            return Reason.RANK_FAILED, exit_words(self.unprepared)
        if self.status.get("phase") == "Failed":
            return Reason.RANK_FAILED, str(self.status.get("message") or "failed")
        cause = self.cause
        return (cause.reason, cause.message) if cause else (Reason.NONE, "")

    @property
    def cause(self) -> Cause | None:
        """What keeps it from starting; ``None`` where it only takes its time."""
        if not self.is_scheduled:
            why = condition(self.status, "PodScheduled").get("message", "")
            return unscheduled(why) if why else None
        if self.phase is RankPhase.FAILED and self.ended:
            return causes.over(self.ended)
        if self.is_ready or self.is_over:
            return None
        for one, waiting in self._waiting():
            fetches = one["name"].startswith(FETCHER)
            if cause := causes.stuck(waiting, one.get("image", ""), self.warnings, fetches=fetches):
                return cause
        waits = (self.container.get("state") or {}).get("waiting") or {}
        if waits.get("reason") == "CrashLoopBackOff" and self.ended:
            return causes.failing(self.ended)
        if self.unprepared and not self.started_at:
            return causes.unprepared(self.unprepared)
        return causes.unmounted(self.warnings) if not self.started_at else None

    def _waiting(self) -> Iterator[tuple[Manifest, Manifest]]:
        """Each container that waits, and what for."""
        for key in ("initContainerStatuses", "containerStatuses"):
            for one in self.status.get(key) or []:
                yield one, (one.get("state") or {}).get("waiting") or {}


def condition(status: Manifest, kind: str) -> dict[str, Any]:
    """A condition by its type; empty where there is none."""
    found = status.get("conditions") or []
    return next((one for one in found if one["type"] == kind), {})


def holds(status: Manifest, kind: str) -> bool:
    return condition(status, kind).get("status") == "True"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
