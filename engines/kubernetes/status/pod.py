"""Read a pod as the state of a rank.

A rank ends with its container: the pod's phase follows a second later, or, if a sidecar does not
end, never.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engines.base import Manifest, RankState
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.labels import JOB_ROLE, REPLICA_INDEX, REPLICA_TYPE
from engines.kubernetes.manifests.pod.fetchers import FETCHER
from engines.kubernetes.ranks import Slot
from engines.kubernetes.status.causes import lifecycle, probes, program, startup
from engines.kubernetes.status.causes.autoscaler import with_autoscaler
from engines.kubernetes.status.causes.unschedulable import VOLUME_AWAITED, unschedulable_cause
from engines.kubernetes.status.conditions import condition, has_condition, parse_time
from engines.kubernetes.status.events import NODES_ADDED, event_time
from engines.kubernetes.status.exit import describe_exit, exit_code, failure_reason, start_failure
from spec.phases import RankPhase, Reason
from spec.problems.causes import Cause
from spec.workload import Role

#: Warnings of a node about a pod that it is preparing.
SLOW = ("FailedCreatePodSandBox", "Failed", "FailedSync", "NetworkNotReady")
PHASES = {"Succeeded": RankPhase.SUCCEEDED, "Failed": RankPhase.FAILED}
DISRUPTION = "DisruptionTarget"  # a condition of pods since 1.26, with the reason for their removal
#: The reasons in the status of pods that their node ended. Nodes before 1.26 set no condition.
ENDED_BY_NODE = frozenset({"Evicted", "Preempting", "Terminated", "Shutdown", "NodeLost"})


@dataclass(frozen=True)
class PodView:
    """A pod of a job. ``warnings`` are events about it and its claims, oldest first. Without
    ``now`` nothing counts as taking too long. ``last_placed`` is when its scheduler last placed a
    pod, ``master_ready`` since when the job's master is ready; ``None`` if it is not known to
    be. ``slot`` is its place in a gang without an operator, and ``lead_role`` the role that
    leads."""

    manifest: Manifest
    kind: JobKind
    warnings: tuple[Manifest, ...] = ()
    now: datetime | None = None
    last_placed: datetime | None = None
    master_ready: datetime | None = None
    slot: Slot = (Role.WORKER, 0)
    lead_role: str = Role.MASTER

    @property
    def role(self) -> str:
        if self.kind.is_plain:
            return self.slot[0]
        labels = self.manifest["metadata"]["labels"]
        return self.kind.role(labels.get(REPLICA_TYPE) or labels.get(JOB_ROLE, ""))

    @property
    def index(self) -> int:
        if self.kind.is_plain:
            return self.slot[1]
        return int(self.manifest["metadata"]["labels"].get(REPLICA_INDEX, 0))

    @property
    def leads(self) -> bool:
        """Whether the gang ends with it."""
        return self.role == self.lead_role

    @property
    def uid(self) -> str:
        return str(self.manifest["metadata"]["uid"])

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def path(self) -> str:
        meta = self.manifest["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    @property
    def status(self) -> Manifest:
        return dict(self.manifest.get("status") or {})

    @property
    def is_being_deleted(self) -> bool:
        return bool(self.manifest["metadata"].get("deletionTimestamp"))

    @property
    def created(self) -> datetime:
        return parse_time(self.manifest["metadata"]["creationTimestamp"])

    @property
    def container(self) -> Manifest:
        """The status of the training container; empty if there is none yet."""
        statuses = self.status.get("containerStatuses") or []
        return next((one for one in statuses if one["name"] == self.kind.container), {})

    @property
    def removed_at(self) -> datetime | None:
        """When the cluster began to remove the pod before its program had ended: it was deleted,
        evicted, drained or preempted. ``None`` if it was not.

        How a program ends after that is an answer to SIGTERM: exit code 0 is no success, and 137
        says nothing about memory.
        """
        finish = (self._present_end or {}).get("finishedAt")
        ended_at = parse_time(finish) if finish else None
        disrupted_at = self._disruption_time
        if disrupted_at and (ended_at is None or ended_at >= disrupted_at):
            return disrupted_at
        deleted_at = self._deletion_request
        if deleted_at is None or (ended_at and ended_at < deleted_at):
            return None
        # Within a second, the grace period tells: a pod that has ended gets none.
        had_ended = self.manifest["metadata"].get("deletionGracePeriodSeconds") == 0
        return None if ended_at == deleted_at and had_ended else deleted_at

    @property
    def _deletion_request(self) -> datetime | None:
        """When somebody asked to delete the pod. The timestamp is when its grace period ends."""
        meta = self.manifest["metadata"]
        until = meta.get("deletionTimestamp")
        grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
        return parse_time(until) - grace if until else None

    @property
    def _disruption_time(self) -> datetime | None:
        """When the cluster, or its node, decided to end the pod."""
        if has_condition(self.status, DISRUPTION):
            at = condition(self.status, DISRUPTION).get("lastTransitionTime")
            return parse_time(at) if at else self.created
        return self.created if self.status.get("reason") in ENDED_BY_NODE else None

    @property
    def _present_end(self) -> Manifest | None:
        """How the container ended, if it has not been started again."""
        ended: Manifest | None = (self.container.get("state") or {}).get("terminated")
        return ended

    @property
    def _earlier_end(self) -> Manifest | None:
        """How the container ended before its last restart."""
        ended: Manifest | None = (self.container.get("lastState") or {}).get("terminated")
        return ended

    @property
    def final_end(self) -> Manifest | None:
        """How the program ended, if its pod does not start it again and was not removed."""
        end = self._present_end
        policy = self.manifest["spec"].get("restartPolicy")
        if end is None or self.removed_at or policy == "Always":
            return None
        return end if policy == "Never" or not end["exitCode"] else None

    @property
    def termination(self) -> Manifest | None:
        """How the program ended: now, or the last time while it waits to be restarted or its pod
        is removed."""
        now = None if self.removed_at else self._present_end
        return self._with_probe(now or self._earlier_end)

    def _with_probe(self, ended: Manifest | None) -> Manifest | None:
        """Add the ``probe`` that failed, if the node ended the container for it."""
        probe = probes.ending_probe(self.warnings, ended) if ended else ""
        return {**ended, "probe": probe} if ended and probe else ended

    @property
    def failures(self) -> list[Manifest]:
        """Its failures that the cluster remembers: the last two of the container, or the last of an
        init container. An end after the removal of the pod is none."""
        ends = [self._earlier_end, None if self.removed_at else self._present_end]
        failed = [end for end in map(self._with_probe, ends) if end and end.get("exitCode")]
        return failed or ([self.init_failure] if self.init_failure and self.is_over else [])

    @property
    def init_failure(self) -> Manifest | None:
        """The failed end of an init container, with its name and number of tries; ``None`` if none
        failed. A sidecar that the node ends after the program does not count."""
        for one in self.status.get("initContainerStatuses") or []:
            state = one.get("state") or {}
            last = one.get("lastState") or {}
            ended = state.get("terminated") or last.get("terminated") or {}
            did_its_part = one["name"] in self._sidecars and bool(self.readable_starts)
            if ended.get("exitCode") and not did_its_part:
                tries = int(one.get("restartCount", 0)) + ("running" not in state)
                return {**ended, "name": one["name"], "tries": tries}
        return None

    @property
    def _sidecars(self) -> set[str]:
        """Names of init containers that run alongside the program."""
        before = self.manifest["spec"].get("initContainers") or ()
        return {one["name"] for one in before if one.get("restartPolicy") == "Always"}

    @property
    def remaining_containers(self) -> list[str]:
        """Names of containers that still run although the program ended for good."""
        if self.is_over or not self.final_end:
            return []
        before = self.status.get("initContainerStatuses") or []
        sidecars = [one for one in before if one["name"] in self._sidecars]
        others = sidecars + (self.status.get("containerStatuses") or [])
        return [one["name"] for one in others if "running" in (one.get("state") or {})]

    @property
    def has_lost_node(self) -> bool:
        """Whether the node no longer reports: then the pod keeps kubelet's last status, except for
        the Ready condition."""
        gates = self.manifest["spec"].get("readinessGates")
        unready = condition(self.status, "Ready").get("status") == "False"
        return (
            unready
            and has_condition(self.status, "ContainersReady")
            and not gates
            and not self.is_over
        )

    def has_used_up(self, limit: int) -> bool:
        """Whether fetching data failed more often than the limit allows."""
        last = self.init_failure
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
    def readable_starts(self) -> list[int]:
        """Starts of the container whose output the cluster has: the current one and the one
        before."""
        state = self.container.get("state") or {}
        last = self.container.get("lastState") or {}
        ended = "terminated" in last
        if "running" in state or "terminated" in state:
            return (
                [self.restarts - 1, self.restarts] if self.restarts and ended else [self.restarts]
            )
        return [self.restarts] if ended else []

    @property
    def is_scheduled(self) -> bool:
        return bool(self.manifest["spec"].get("nodeName"))

    @property
    def scheduled_at(self) -> datetime | None:
        """When the pod got its node; ``None`` if it has none."""
        at = condition(self.status, "PodScheduled").get("lastTransitionTime")
        return (parse_time(at) if at else self.created) if self.is_scheduled else None

    @property
    def unschedulable_since(self) -> datetime | None:
        """Since when its scheduler finds no node for it; ``None`` if it did, or has not tried."""
        state = condition(self.status, "PodScheduled")
        at = state.get("lastTransitionTime")
        is_refused = state.get("status") == "False" and state.get("reason") == "Unschedulable"
        return (parse_time(at) if at else self.created) if is_refused else None

    @property
    def nodes_added_at(self) -> datetime | None:
        """When an autoscaler last reported that it adds a node for the pod; ``None`` if none
        did."""
        added = [event_time(one) for one in self.warnings if one.get("reason") in NODES_ADDED]
        return max(added, default=None)

    @property
    def is_gated(self) -> bool:
        """Whether a scheduling gate keeps it from the scheduler."""
        return condition(self.status, "PodScheduled").get("reason") == "SchedulingGated"

    @property
    def is_ready(self) -> bool:
        return self.is_running and bool(self.container.get("ready")) and not self.has_lost_node

    @property
    def is_over(self) -> bool:
        return self.status.get("phase") in PHASES

    @property
    def phase(self) -> RankPhase:
        """The phase of the rank. One whose pod was removed waits for another."""
        if not self.removed_at:
            if over := PHASES.get(self.status.get("phase", "")):
                return over
            if end := self.final_end:
                return RankPhase.FAILED if end["exitCode"] else RankPhase.SUCCEEDED
        return RankPhase.RUNNING if self.is_ready else RankPhase.PENDING

    @property
    def started_at(self) -> datetime | None:
        state = self.container.get("state") or {}
        now = state.get("running") or self._present_end or self._earlier_end or {}
        at = now.get("startedAt") if not start_failure(now) else None  # otherwise it is 1970
        return parse_time(at) if at else None

    @property
    def finished_at(self) -> datetime | None:
        end = self._present_end or self._earlier_end or {}
        at = end.get("finishedAt") if not self.is_ready else None
        return parse_time(at) if at else None

    def rank(self, number: int) -> RankState:
        reason, message = self.trouble
        if self.is_ready and self._earlier_end:
            message = f"started again after it {describe_exit(self._earlier_end)}"
        return RankState(
            rank=number,
            role=self.role,
            index=self.index,
            phase=self.phase,
            node=self.manifest["spec"].get("nodeName", ""),
            restarts=self.restarts,
            exit_code=exit_code(self.termination)
            if self.termination and not self.is_ready
            else None,
            reason=reason,
            message=message,
            started_at=self.started_at,
            finished_at=self.finished_at,
        )

    def failed_rank(self, state: RankState) -> RankState | None:
        """The rank after a failure that used up its job's limit, even if it has been started again
        since; ``None`` if it never failed."""
        ended = self.termination
        if not ended or not ended.get("exitCode"):
            return None
        at = ended.get("finishedAt")
        return replace(
            state,
            phase=RankPhase.FAILED,
            exit_code=exit_code(ended),
            reason=failure_reason(ended),
            message=describe_exit(ended),
            finished_at=parse_time(at) if at else None,
        )

    @property
    def trouble(self) -> tuple[Reason, str]:
        """Why the rank does not run, in words; empty if nothing is wrong, or its pod was
        removed."""
        ended = self.termination
        if ended and not self.is_ready and ended.get("exitCode"):
            return failure_reason(ended), describe_exit(ended)
        if self.removed_at:
            return Reason.NONE, ""
        if self.init_failure and self.is_over:
            return Reason.RANK_FAILED, describe_exit(self.init_failure)
        if self.status.get("phase") == "Failed":
            return Reason.RANK_FAILED, str(self.status.get("message") or "failed")
        cause = self.cause
        return (cause.reason, cause.message) if cause else (Reason.NONE, "")

    @property
    def cause(self) -> Cause | None:
        """What keeps the rank from starting; ``None`` if it only takes its time."""
        if not self.is_scheduled:
            return self._scheduling_cause()
        if self.has_lost_node:
            return lifecycle.lost_node(self.manifest)
        if names := self.remaining_containers:
            return lifecycle.remaining_containers(names)
        if self.phase is RankPhase.FAILED and self.termination:
            return program.failed_rank_cause(self.termination)
        if self.is_ready or self.is_over or self.final_end:
            return None
        for one, waiting in self._waiting_containers():
            fetches = one["name"].startswith(FETCHER)
            image = one.get("image", "")
            if cause := startup.waiting_cause(waiting, image, self.warnings, fetches=fetches):
                return cause
        waits = (self.container.get("state") or {}).get("waiting") or {}
        if self.termination and waits.get("reason") == "CrashLoopBackOff":
            return program.restart_cause(self.termination)
        if self._waits_for_masters_name:
            return lifecycle.unresolved_master(self.manifest)
        if self.init_failure and not self.started_at:
            return program.init_failure_cause(self.init_failure)
        return self._start_cause(waits) if not self.started_at else self._readiness_cause()

    def _scheduling_cause(self) -> Cause | None:
        state = condition(self.status, "PodScheduled")
        said = str(state.get("message", ""))
        if self.is_gated:
            return lifecycle.scheduling_gate(self.manifest, said)
        if not said:
            return self._unreported_cause() if not state else None
        cause = unschedulable_cause(said)
        if cause.title == VOLUME_AWAITED:
            cause = startup.provisioning_cause(self.warnings) or cause
        return with_autoscaler(cause, self.warnings)

    def _unreported_cause(self) -> Cause | None:
        """The cause while the scheduler has reported nothing. A volume that waits for its first
        consumer is made after the scheduler has chosen a node, and before it says so."""
        if cause := startup.provisioning_cause(self.warnings, since=self.created):
            return cause
        if not self._is_late(self.created, lifecycle.SCHEDULER_SECONDS):
            return None
        return lifecycle.unreported_pod(self.manifest, self.last_placed)

    @property
    def ready_since(self) -> datetime | None:
        """Since when the pod is ready; ``None`` if it is not."""
        if not self.is_ready:
            return None
        since = condition(self.status, "Ready").get("lastTransitionTime")
        return parse_time(since) if since else self.started_at

    @property
    def _waits_for_masters_name(self) -> bool:
        """Whether the operator's init container has waited for long, or in vain, for the name of a
        master that is ready: the name of one that is not does not resolve."""
        if self.master_ready is None:
            return False
        statuses = self.status.get("initContainerStatuses") or []
        states = (
            one.get("state") or {} for one in statuses if one["name"] == lifecycle.MASTER_WAITER
        )
        state: Manifest = next(states, {})
        if began := (state.get("running") or {}).get("startedAt"):
            since = max(parse_time(began), self.master_ready)
            return self._is_late(since, lifecycle.START_SECONDS)
        failure = self.init_failure or {}
        if failure.get("name") != lifecycle.MASTER_WAITER or not failure.get("finishedAt"):
            return False
        return parse_time(failure["finishedAt"]) > self.master_ready

    def _start_cause(self, waits: Manifest) -> Cause | None:
        """Causes before the container exists, when no init container has failed."""
        if cause := startup.mount_cause(self.warnings):
            return cause
        placed = condition(self.status, "PodScheduled").get("lastTransitionTime")
        before = self.status.get("initContainerStatuses") or []
        busy = any("running" in (one.get("state") or {}) for one in before)
        if busy or not placed or not self._is_late(parse_time(placed), lifecycle.START_SECONDS):
            return None
        since = parse_time(placed)
        warnings = [it for it in self.warnings if it["reason"] in SLOW and event_time(it) >= since]
        warning = str(warnings[-1].get("message", "")) if warnings else ""
        return lifecycle.slow_start(self.manifest, waits, warning)

    def _readiness_cause(self) -> Cause | None:
        return (
            probes.unready_cause(self.warnings, since=self.started_at) if self.is_running else None
        )

    def _is_late(self, since: datetime, seconds: float) -> bool:
        return self.now is not None and (self.now - since).total_seconds() >= seconds

    def _waiting_containers(self) -> Iterator[tuple[Manifest, Manifest]]:
        """Each container with what it waits for."""
        for key in ("initContainerStatuses", "containerStatuses"):
            for one in self.status.get(key) or []:
                yield one, (one.get("state") or {}).get("waiting") or {}
