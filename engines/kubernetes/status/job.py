"""Turn a job and its pods into one observation: the phase, why, and every rank. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from engines.base import Manifest, Observation, RankState
from engines.kubernetes import jobs, ranks
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.kueue import causes as kueue_causes
from engines.kubernetes.kueue.workload import QueuedJob, names_queue, owner_uids
from engines.kubernetes.labels import GAVE_UP, STOPPED_RUN, parse_workload_id, run_number
from engines.kubernetes.manifests.pod.requests import quota_amount
from engines.kubernetes.ranks import Slot
from engines.kubernetes.status import preemption
from engines.kubernetes.status.causes import podgroup, program, refused
from engines.kubernetes.status.causes.lifecycle import scheduler_name
from engines.kubernetes.status.conditions import (
    condition,
    has_condition,
    is_completed,
    parse_time,
    run_start,
)
from engines.kubernetes.status.events import event_time, events_of_pod, group_by_object
from engines.kubernetes.status.exit import describe_exit, failure_reason
from engines.kubernetes.status.gang import GangView
from engines.kubernetes.status.job_end import JobEnd
from engines.kubernetes.status.placements import record_placements
from engines.kubernetes.status.pod import PodView
from engines.kubernetes.status.preemption import Preemption
from engines.kubernetes.status.take_back import TakeBack
from spec.phases import ENDED, INCOMPLETE, RANK_ACTIVE, TERMINAL, Phase, RankPhase, Reason
from spec.problems.causes import Cause
from spec.workload import LauncherPolicy, Role

#: The end of a run is later than anything else seen of it, hence a bit above every resource
#: version. Stopped is no such end: a suspended job may be resumed.
FINAL_BIT = 1 << 62
ORDER_BITS = 16
COMPLETE = (1 << ORDER_BITS) - 1  # the order of a view that is complete up to its newest version
AT_ONCE = timedelta(seconds=5)  # no pod is created, started and failed within this time
FOLLOWER_FAILED = "The Job of a rank failed."
REPLACED = "A rank lost its pod; a new one is being created."
NO_SUCCESS = "Its program then ended with exit code 0, which is no success after that."


class JobStatus(NamedTuple):
    phase: Phase
    reason: Reason = Reason.NONE
    message: str = ""
    cause: Cause | None = None


@dataclass(frozen=True)
class JobView:
    """A job (``manifest``) and its pods at one moment."""

    kind: JobKind
    manifest: Manifest
    pods: tuple[PodView, ...]
    group: Manifest | None = None
    warnings: tuple[Manifest, ...] = ()  # events about the job itself, oldest first
    preemptions: Mapping[str, Preemption] = field(default_factory=dict)  # by name of the pod
    has_kueue: bool = False  # the cluster serves Kueue's API
    queued: QueuedJob | None = None  # the job's Workload of Kueue
    queue_place: int = 0  # in its LocalQueue, from 1; 0: unknown
    queued_pods: Mapping[str, QueuedJob] = field(default_factory=dict)  # by uid of the pod
    followers: tuple[Manifest, ...] = ()  # the Jobs of other ranks, where each has one

    @classmethod
    def from_objects(
        cls,
        kind: JobKind,
        job: Manifest,
        pods: Iterable[Manifest],
        *,
        group: Manifest | None = None,
        warnings: Iterable[Manifest] = (),
        now: datetime | None = None,
        has_kueue: bool = False,
        queue_entries: Iterable[Manifest] = (),
        queue_place: int = 0,
        placements: Mapping[str, datetime] | None = None,
        followers: Iterable[Manifest] = (),
    ) -> "JobView":
        """``group`` is KAI's pod group; ``warnings`` are events about the job, its pods and their
        claims; ``queue_entries`` are Kueue's Workloads of the job and its pods, ``queue_place`` its
        place in its LocalQueue. Without ``now`` nothing counts as taking too long. ``placements``
        are those of other pods, see ``status/placements.py``. ``followers`` are the other Jobs of a
        gang in which each rank has one."""
        warnings = list(warnings)
        queue_entries = list(queue_entries)
        about = group_by_object(warnings)
        gang_jobs = (job, *(one for one in followers if ranks.is_owned_by(one, job)))
        uids = {one["metadata"]["uid"] for one in gang_jobs}
        own_pods = [pod for pod in pods if not kind.is_plain or jobs.is_pod_of(pod, uids)]
        slots = ranks.read_slots(job)
        lead_role = ranks.lead_role(job, slots)
        placed = dict(placements or {})
        record_placements(placed, own_pods)
        views = [
            PodView(
                pod,
                kind,
                tuple(events_of_pod(pod, about)),
                now,
                placed.get(scheduler_name(pod)),
                slot=ranks.slot_of(pod, slots),
                lead_role=lead_role,
            )
            for pod in own_pods
        ]
        ready = next((pod.ready_since for pod in views if pod.role == Role.MASTER), None)
        views = [replace(pod, master_ready=ready) for pod in views]
        start = run_start(job)  # events of an earlier run explain nothing now
        own = (one for one in about.get(job["metadata"]["uid"], ()) if event_time(one) >= start)
        preemptions = preemption.newest_by_pod(warnings, since=start)
        return cls(
            kind,
            job,
            tuple(views),
            group,
            tuple(own),
            preemptions,
            has_kueue,
            _entry_of_job(job, queue_entries),
            queue_place,
            {uid: QueuedJob(one) for one in queue_entries for uid in owner_uids(one)},
            gang_jobs[1:],
        )

    def observation(self, *, floor: int = 0, order: int = 0) -> Observation:
        """``floor`` is the newest resource version seen, including pods that are gone.

        ``order`` orders views with the same newest version: jobs and pods arrive by different
        watches, so a change may arrive after a later one.
        """
        phase, reason, message, cause = self._status()
        return Observation(
            workload_id=self.workload_id,
            run=run_number(self.manifest),
            sequence=self.sequence(phase, floor=floor, order=order),
            phase=phase,
            at=self._changed_at,
            attempt=max(map(self._restarts, self.pods), default=0),
            reason=reason,
            message=message,
            ranks=tuple(self.ranks(phase)),
            cause=cause,
            starts_over=self.starts_over,
        )

    def sequence(self, phase: Phase | None, *, floor: int, order: int) -> int:
        """The sequence of an observation in this phase."""
        own = max(
            [
                resource_version(self.manifest),
                *(resource_version(pod.manifest) for pod in self.pods),
                *([resource_version(self.queued.manifest)] if self.queued else ()),
                *(resource_version(one) for one in self.followers),
            ]
        )
        if phase in TERMINAL:
            return sequence(own, order) | FINAL_BIT
        return sequence(max(floor, own), order)

    @property
    def workload_id(self) -> UUID:
        uid = parse_workload_id(self.manifest["metadata"]["labels"])
        assert uid  # noqa: S101 -- only labelled jobs are watched
        return uid

    @property
    def is_suspended(self) -> bool:
        return jobs.is_suspended(self.manifest)

    @property
    def was_suspended_by_us(self) -> bool:
        """Whether Trainyard suspended this run, not somebody on the cluster."""
        is_marked = self._annotations.get(STOPPED_RUN) == str(run_number(self.manifest))
        return self.is_suspended and is_marked

    @property
    def suspension(self) -> Manifest:
        """The patch that suspends the job, unless somebody has changed it since it was read."""
        meta = {
            "resourceVersion": self.manifest["metadata"]["resourceVersion"],
            "annotations": {STOPPED_RUN: str(run_number(self.manifest))},
        }
        return {"metadata": meta, "spec": jobs.suspension(self.kind)}

    @property
    def is_managed(self) -> bool:
        """Whether Kueue starts and stops the job. Its ``suspend`` is then no wish of anybody.

        Kueue suspends a job in the call that creates it, and makes its own Workload a moment later.
        """
        if self.was_suspended_by_us:
            return False
        if self.queued is not None:
            return True
        if not self.has_kueue or not self.is_suspended or self.taken_back:
            return False
        return names_queue(self.manifest) or self._never_started

    @cached_property
    def taken_back(self) -> TakeBack | None:
        """The take-back after which the gang still waits to be tried again; ``None`` if it does
        not."""
        note = TakeBack.of(self.manifest)
        waits = self.is_suspended and not self.was_suspended_by_us
        return note if waits and note and note.at else None

    @property
    def has_left(self) -> bool:
        """Whether none of its pods holds a node."""
        return self._has_ended

    @cached_property
    def partial_since(self) -> datetime | None:
        """Since when only some ranks have a node, although the scheduler has tried the others.
        ``None`` if that is not so, or the gang was complete since it was last started.

        That is so for no gang that its scheduler or its queue places as a whole.
        """
        if self.is_managed or self.is_suspended or len(self.slots) < 2:
            return None
        gang = GangView.from_pods(self.pods_by_slot.values(), size=len(self.slots))
        if any(pod.is_gated for pod in gang.pods):
            return None
        # Pods keep their nodes, so a first pod without one means that the gang was never complete.
        first = [pod for pod in gang.pods if pod not in gang.replacements]
        refused = [at for pod in first if (at := pod.unschedulable_since)]
        placed = [at for pod in gang.pods if (at := pod.scheduled_at)]
        if not refused or not placed or len(placed) >= self._fewest_ranks:
            return None
        added = [at for pod in first if (at := pod.nodes_added_at)]
        return max(min(refused), min(placed), *added)

    @property
    def placed(self) -> int:
        """How many ranks have a node."""
        gang = GangView.from_pods(self.pods_by_slot.values(), size=len(self.slots))
        return sum(pod.is_scheduled for pod in gang.pods)

    @property
    def _fewest_ranks(self) -> int:
        """How many ranks the gang needs: an elastic one runs with fewer than all."""
        elastic = self.manifest["spec"].get("elasticPolicy") or {}
        return int(elastic.get("minReplicas") or len(self.slots))

    @property
    def _never_started(self) -> bool:
        ran = self._job_status.get("startTime") or condition(self._job_status, "Running")
        return not ran and not self.pods

    @property
    def created(self) -> datetime:
        return parse_time(self.manifest["metadata"]["creationTimestamp"])

    @property
    def _annotations(self) -> dict[str, str]:
        return dict(self.manifest["metadata"].get("annotations") or {})

    @property
    def fetch_failure(self) -> str:
        """Which rank cannot fetch its data, in words; empty if none.

        Operators only count restarts of running pods, and no pod runs before its init containers
        are done: without us these would be restarted for ever.
        """
        limit = jobs.backoff_limit(self.manifest)
        for pod in sorted(self.pods_by_slot.values(), key=self._rank):
            last = pod.init_failure
            if limit and last and pod.has_used_up(limit):
                return f"{self._rank_name(pod)} {describe_exit(last)}. Tried {last['tries']} times."
        return ""

    @cached_property
    def slots(self) -> list[Slot]:
        """Role and index of every rank, in rank order: the master is first."""
        if self.kind.is_plain:
            return ranks.read_slots(self.manifest)
        replicas = self.manifest["spec"][self.kind.replicas]
        unsorted: list[Slot] = [
            (self.kind.role(name), index)
            for name, replica in replicas.items()
            for index in range(replica.get("replicas", 1))
        ]
        return sorted(unsorted, key=lambda slot: (slot[0] != Role.MASTER, slot[1]))

    @cached_property
    def pods_by_slot(self) -> dict[Slot, PodView]:
        """The newest pod of each rank, including pods that are being deleted. One that is there to
        stay comes before them, and before a failed one of an earlier try."""
        ordered = sorted(
            self.pods, key=lambda pod: (not (pod.is_being_deleted or pod.is_over), pod.created)
        )
        return {(pod.role, pod.index): pod for pod in ordered}

    def ranks(self, phase: Phase) -> Iterator[RankState]:
        """The ranks as they are, or as they ended with a workload in this phase."""
        replaced = self._replaced_slots
        for number, slot in enumerate(self.slots):
            pod = self.pods_by_slot.get(slot)
            if pod is None:
                state = RankState(number, *slot, RankPhase.PENDING)
            else:
                state = replace(pod.rank(number), restarts=self._restarts(pod))
            state = replace(state, lost_its_node=slot in replaced and not state.node)
            if phase in ENDED and state.phase in RANK_ACTIVE:
                failed = pod.failed_rank(state) if pod and phase is Phase.FAILED else None
                state = failed or replace(state, phase=RankPhase.STOPPED)
            if pod and (why := self._preemption_of(pod)):
                state = replace(state, reason=why.reason, message=why.words)
            if pod and phase is Phase.FAILED and (why := self._fatal_removals.get(pod.uid)):
                state = _removed_rank(state, why, pod.removed_at)
            yield state

    def _restarts(self, pod: PodView) -> int:
        """How often the rank was started again before this state of its pod, after failures. A
        plain Job starts each try in a new pod, and keeps those that failed."""
        if not self.kind.is_plain:
            return pod.restarts
        failed = [
            one
            for one in self.pods
            if one.slot == pod.slot and one.created < pod.created and one.phase is RankPhase.FAILED
        ]
        return pod.restarts + len(failed)

    @cached_property
    def _retries(self) -> bool:
        """Whether the job replaces a pod that failed. Operators fail the job instead, or restart
        the container."""
        if not self.kind.is_plain or has_condition(self._job_status, "FailureTarget"):
            return False
        failed = Counter(self._job_of(pod) for pod in self.pods if pod.phase is RankPhase.FAILED)
        return max(failed.values(), default=0) <= jobs.backoff_limit(self.manifest)

    def _job_of(self, pod: PodView) -> Slot | None:
        """What tells the Job of a pod from others: its slot, where each rank has a Job."""
        return pod.slot if ranks.has_followers(self.manifest) else None

    @property
    def _job_status(self) -> Manifest:
        return dict(self.manifest.get("status") or {})

    @property
    def _replaced_slots(self) -> set[Slot]:
        """The ranks whose pod takes the place of one that had a node: nobody replaces a pod that
        never had one. A pod may also come late because its server or its job had it wait."""
        if refused.creation_failure(self.warnings):
            return set()
        policy = self.manifest["spec"].get("launcherCreationPolicy")
        waits = policy == LauncherPolicy.WAIT_FOR_WORKERS_READY
        late = GangView.from_pods(self.pods_by_slot.values(), size=len(self.slots)).replacements
        return {(pod.role, pod.index) for pod in late if not (waits and pod.role == Role.MASTER)}

    def _status(self) -> JobStatus:
        status = self._job_status
        resting = self.kind.is_plain and self.is_suspended and not self.is_managed
        if is_completed(status) and not resting:
            return self._completed_status()
        if self.was_resumed_too_early:
            # Its next run is submitted, which waits until the pods of this one are gone.
            return JobStatus(Phase.STOPPED, Reason.PREEMPTED, kueue_causes.RESUMED_TOO_EARLY)
        if has_condition(status, "Failed") and not resting:
            why = self._failure(condition(status, "Failed").get("message", ""))
            return JobStatus(Phase.FAILED, *why)
        if self.follower_failure and not self.is_suspended:
            return JobStatus(Phase.FAILED, *self._failure(self.follower_failure))
        if self.is_halted and (given_up := self._annotations.get(GAVE_UP)):
            return JobStatus(Phase.FAILED, Reason.RANK_FAILED, given_up)
        if self.taken_back:
            return _waiting_status(self.taken_back.cause(len(self.slots)))
        if self.is_managed:
            if halt := self._queue_status():
                return halt
        elif self.is_suspended:
            settled = has_condition(status, "Suspended") or not status.get("conditions")
            done = self._has_ended if resting else settled and not self.pods
            return JobStatus(Phase.STOPPED if done else Phase.STOPPING, Reason.STOPPED_BY_USER)
        verdict = self._active_status()
        if verdict.phase in INCOMPLETE and (gave_way := self._first_preemption()):
            reason, message = gave_way
            if reason is not Reason.PREEMPTED:
                reason = Reason.NONE  # it comes back
            return verdict._replace(reason=reason, message=message)
        return verdict

    def _completed_status(self) -> JobStatus:
        """The status of a job that its controller calls complete. It may call it so because a pod
        was removed, and its program answered SIGTERM with exit code 0."""
        if not (removal := self._first_removal()):
            return JobStatus(Phase.COMPLETED)
        reason, message = removal
        return JobStatus(Phase.FAILED, reason, f"{message} {NO_SUCCESS}")

    def _first_removal(self) -> tuple[Reason, str] | None:
        """The removal that ended the job; ``None`` if none did."""
        uid = next(iter(self._fatal_removals), None)
        pod = next((pod for pod in self.pods if pod.uid == uid), None)
        if uid is None or pod is None:
            return None
        why = self._fatal_removals[uid]
        return why.reason, f"{self._rank_name(pod)} {why.words}."

    @property
    def follower_failure(self) -> str:
        """Why the Job of another rank than the lead failed, in the words of the cluster. Empty if
        none did, or that does not count."""
        if ranks.ignores_followers(self.manifest):
            return ""
        failures = (condition(one.get("status") or {}, "Failed") for one in self.followers)
        failed = next((it for it in failures if it.get("status") == "True"), None)
        return str(failed.get("message") or FOLLOWER_FAILED) if failed else ""

    @property
    def gang_failure(self) -> str:
        """Which rank failed for good although the lead still runs, in words; empty if none did."""
        return self._failure(self.follower_failure)[1] if self.follower_failure else ""

    @cached_property
    def _end(self) -> JobEnd:
        decisive: Collection[PodView] = self.pods_by_slot.values()
        if ranks.ignores_followers(self.manifest):
            decisive = [pod for pod in decisive if pod.leads]
        pods = sorted(decisive, key=self._rank)
        return JobEnd(self.kind, self._job_status, tuple(pods), self.preemptions)

    @property
    def _fatal_removals(self) -> Mapping[str, Preemption]:
        """The removals of pods that ended the job, by the pod's uid. Those of a stop are none."""
        return {} if self.is_suspended and not self.is_managed else self._end.removals

    @property
    def is_halted(self) -> bool:
        """Whether its run was asked to end: by Kueue's Workload where the job is Kueue's, else by
        its own suspension."""
        if self.was_resumed_too_early:
            return True
        if self.is_managed:
            return self.queued is not None and not self.queued.is_active
        return self.is_suspended and not self.taken_back

    @property
    def was_resumed_too_early(self) -> bool:
        """Whether its operator called it failed because Kueue resumed it while pods of the attempt
        before were still ending. Kueue asks the operator whether the job is active, and a suspended
        job is not; the operator then counts ending pods as failed ones
        (``UpdateJobReplicaStatuses`` in ``pkg/core/status.go`` of the training operator 1.9)."""
        if self.kind.is_plain or self.queued is None or not self.queued.was_evicted:
            return False
        status = self.manifest.get("status") or {}
        failed = condition(status, "Failed")
        resumed = condition(status, "Suspended")
        if failed.get("status") != "True" or resumed.get("status") != "False":
            return False
        resumed_at = parse_time(resumed["lastTransitionTime"])
        is_prompt = parse_time(failed["lastTransitionTime"]) - resumed_at <= AT_ONCE
        return is_prompt and not any(pod.created >= resumed_at for pod in self.pods)

    def _queue_status(self) -> JobStatus | None:
        """The status of a job that Kueue does not let run; ``None`` if it does."""
        queued = self.queued
        if queued is None:
            return _waiting_status(kueue_causes.NOT_TAKEN_UP)
        if queued.could_not_start:
            return JobStatus(Phase.FAILED, Reason.REFUSED, queued.finish_message)
        if not queued.is_active:
            return self._stop_status(queued)
        if not self.is_suspended and not queued.is_evicted:
            return None
        cause = kueue_causes.waiting_cause(queued)
        if queued.is_evicted:
            message = self._with_place(kueue_causes.eviction_message(queued))
            return JobStatus(Phase.PENDING, Reason.PREEMPTED, message, cause)
        return _waiting_status(cause, self._with_place(cause.message))

    def _with_place(self, message: str) -> str:
        """Add to a message where the job stands in its queue, if that is known."""
        if not self.queue_place or self.queued is None or not self.queued.waits_in_queue:
            return message
        place = f"{self.queue_place}{ordinal_suffix(self.queue_place)} in queue {self.queued.queue}"
        return f"{message.rstrip('.')}; {place}"

    def _stop_status(self, queued: QueuedJob) -> JobStatus:
        reason, message = queued.stop_by_kueue
        reason = reason or Reason.STOPPED_BY_USER
        if not self._has_ended:
            return JobStatus(Phase.STOPPING, reason, message)
        if queued.has_quota:
            return JobStatus(Phase.STOPPING, reason, message, kueue_causes.STILL_COUNTS)
        return JobStatus(Phase.STOPPED, reason, message)

    @property
    def starts_over(self) -> bool:
        """Whether Kueue took the gang back, and no rank of the next attempt has started yet. If it
        is Stopped, its job has ended with that. So did Trainyard, if the gang was placed in
        part."""
        if self.was_resumed_too_early or self.taken_back:
            return True
        if not self.is_managed:
            return False
        if self.queued is None:
            return True
        if not self.queued.is_active:
            return False
        if self.is_suspended or self.queued.is_evicted:
            return True
        since = self.queued.admitted_at
        if since is None or not self.queued.starts_again:
            return False
        return not any(pod.created >= since and pod.readable_starts for pod in self.pods)

    @property
    def _has_ended(self) -> bool:
        """Whether all pods have ended. The status of a stopped Job does not tell: it also counts
        pods that were removed."""
        return all(pod.is_over and not pod.is_being_deleted for pod in self.pods)

    def _preemption_of(self, pod: PodView) -> Preemption | None:
        runs = pod.is_ready and not pod.is_being_deleted
        done = runs or pod.phase is RankPhase.SUCCEEDED
        return None if done else preemption.preemption_of(pod, self.preemptions)

    def _first_preemption(self) -> tuple[Reason, str] | None:
        """The first rank that was preempted and does not run again yet."""
        for pod in sorted(self.pods_by_slot.values(), key=self._rank):
            if why := self._preemption_of(pod):
                return why.reason, f"{self._rank_name(pod)} {why.words}."
        return None

    def _active_status(self) -> JobStatus:
        gang = GangView.from_pods(
            self.pods_by_slot.values(), size=len(self.slots), retries=self._retries
        )
        if gang.has_fallen_apart and not self._is_partly_created(gang):
            cause = self._cause(gang.blockers, gang)
            otherwise = (cause.reason, cause.message) if cause else (Reason.NONE, REPLACED)
            reason, why = self._first_trouble(gang.pods, "")
            return JobStatus(Phase.DEGRADED, *((reason, why) if why else otherwise), cause)
        if not gang.is_placed:
            cause = self._cause(gang.pods, gang)
            why_not = (cause.reason, cause.message) if cause else self._first_trouble(gang.pods, "")
            return JobStatus(Phase.PENDING, *why_not, cause)
        if gang.waiting:
            reason, why = self._first_trouble(gang.blockers, "")
            is_restarting = gang.is_restarting or any(map(self._restarts, gang.waiting))
            reason = Reason.RESTARTING if is_restarting else reason
            return JobStatus(Phase.INITIALIZING, reason, why, self._cause(gang.blockers, gang))
        if late := [pod for pod in gang.pods if pod.remaining_containers]:
            cause = self._cause(late, gang)
            return JobStatus(Phase.RUNNING, message=cause.message if cause else "", cause=cause)
        return JobStatus(Phase.RUNNING)

    def _is_partly_created(self, gang: GangView) -> bool:
        """Whether pods are missing because the cluster never created them."""
        return len(self.pods_by_slot) < gang.size and self._creation_failure(gang) is not None

    def _creation_failure(self, gang: GangView) -> Cause | None:
        """Why pods are not created. Events before the newest pod explain nothing."""
        if not gang.missing:
            return None
        last = max((pod.created for pod in self.pods), default=None)
        manifests = [pod.manifest for pod in gang.pods]

        def amount_of_gang(name: str) -> Decimal:
            return sum((quota_amount(pod, name) for pod in manifests), Decimal(0))

        cause = refused.creation_failure(self.warnings, since=last, amount_of_gang=amount_of_gang)
        return (
            refused.partial_creation(cause, len(gang.pods), gang.size)
            if cause and gang.pods
            else cause
        )

    def _cause(self, among: Sequence[PodView], gang: GangView) -> Cause | None:
        """The most telling cause: of the whole gang, of pods that were not created, of the first
        rank."""
        whole = (
            podgroup.podgroup_cause(self.group)
            if not all(it.is_scheduled for it in among)
            else None
        )
        if whole := whole or self._creation_failure(gang):
            return whole
        away = [pod for pod in self.pods_by_slot.values() if pod.has_lost_node]
        for pod in sorted(away or among, key=self._rank):
            if cause := self._cause_of_pod(pod):
                return replace(cause, who=self._rank_name(pod))
        if gang.pods:
            return None
        return refused.no_pods_cause(plain=self.kind.is_plain, again=bool(self.pods))

    def _cause_of_pod(self, pod: PodView) -> Cause | None:
        """What keeps a rank from running: Kueue, if it queues the pod instead of the job; the pause
        before the next try, if the job makes a new pod; or what the pod says."""
        queued = self.queued_pods.get(pod.uid)
        if queued and pod.is_gated:
            return kueue_causes.waiting_cause(queued)
        end = pod.termination
        if self._retries and pod.phase is RankPhase.FAILED and end:
            return program.restart_cause(end)
        return pod.cause

    def _first_trouble(self, among: Sequence[PodView], otherwise: str) -> tuple[Reason, str]:
        for pod in sorted(among, key=self._rank):
            reason, why = pod.trouble
            if why:
                return reason, f"{self._rank_name(pod)}: {why}"
        return Reason.NONE, otherwise

    def _failure(self, otherwise: str) -> tuple[Reason, str]:
        """The rank that failed first, or was removed; ``otherwise`` if neither is known."""
        if why := self._first_preemption() or self._first_removal():
            return why
        if self._end.first_failure is None:
            return Reason.RANK_FAILED, otherwise
        pod, end = self._end.first_failure
        return failure_reason(end), f"{self._rank_name(pod)} {describe_exit(end)}."

    def _rank_name(self, pod: PodView) -> str:
        return f"{pod.role}-{pod.index} (rank {self._rank(pod)})"

    def _rank(self, pod: PodView) -> int:
        slot = (pod.role, pod.index)
        return self.slots.index(slot) if slot in self.slots else len(self.slots)

    @property
    def _changed_at(self) -> datetime:
        """The time of the latest change, by the cluster's clocks."""
        statuses = (job.get("status") or {} for job in (self.manifest, *self.followers))
        conditions = [one for status in statuses for one in status.get("conditions") or []]
        times = [parse_time(one["lastTransitionTime"]) for one in conditions]
        times += [at for pod in self.pods for at in (pod.created, pod.started_at) if at]
        times += [pod.finished_at for pod in self.pods if pod.finished_at]
        times += self.queued.changed_at if self.queued else ()
        return max([self.created, *times])


def _waiting_status(cause: Cause, message: str = "") -> JobStatus:
    return JobStatus(Phase.PENDING, cause.reason, message or cause.message, cause)


def ordinal_suffix(number: int) -> str:
    """``st`` for 1, 21 and 101, ``th`` for 11."""
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _entry_of_job(job: Manifest, queue_entries: Iterable[Manifest]) -> QueuedJob | None:
    """The newest Workload that Kueue keeps for the job itself. It replaces one whose pods no longer
    match the job's, so that for a moment there are two."""
    uid = job["metadata"]["uid"]
    own = [
        one
        for one in queue_entries
        if uid in owner_uids(one) and not one["metadata"].get("deletionTimestamp")
    ]
    return QueuedJob(max(own, key=resource_version)) if own else None


def resource_version(item: Manifest) -> int:
    """An object's resource version: a revision of the cluster's store, which grows with each
    change."""
    return int(item["metadata"]["resourceVersion"])


def sequence(newest: int, order: int) -> int:
    return newest << ORDER_BITS | order


def _removed_rank(state: RankState, why: Preemption, removed_at: datetime | None) -> RankState:
    """A rank that failed because its pod was removed. That is before its peers missed it; when and
    how its program ended then says nothing."""
    return replace(
        state,
        phase=RankPhase.FAILED,
        exit_code=None,
        reason=why.reason,
        message=why.words,
        finished_at=removed_at,
    )
