"""What needs the reader of the overview: workloads that failed, lost ranks, wait or are idle."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from string import digits
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, Subquery, Value, When
from django.urls import reverse
from django.utils import timezone

from accounts.models import AccessKey, User
from core.web.query import parse_uuid
from spec.kind import WorkloadKind
from spec.phases import WAITING, Phase, RankPhase, Reason
from workloads.diagnosis import BY_ID
from workloads.logs.choice import FIRST_ERROR
from workloads.models import CausePeriod, Dismissal, Rank, Workload, WorkloadQuerySet
from workloads.scheduling.limits.idle_limits import GAP, idle_since, uses_anything, uses_gpu

LISTED_FOR = timedelta(days=14)  # after a failure
LONG_WAIT = timedelta(minutes=10)
LONG_IDLE = timedelta(hours=1)
SAME_CAUSE_WITHIN = timedelta(hours=1)
KEYS_END_WITHIN = timedelta(days=7)
MOST_LISTED = 100  # workloads that need somebody
MOST_GROUPS = 10  # entries of the list
MOST_NAMED = 8  # workloads of an entry that is unfolded
MOST_IDLE = 20  # workloads whose samples are read to find idle ones
#: What a failure without a class is called, by its reason.
REASONS = {
    Reason.COMMAND_NOT_FOUND: "Command not found",
    Reason.IMAGE_UNKNOWN: "Image unknown",
    Reason.RANK_FAILED: "A rank failed",
    Reason.OUT_OF_MEMORY: "Out of memory",
    Reason.GRACE_PERIOD_EXCEEDED: "Killed after its grace period",
    Reason.DEADLINE_EXCEEDED: "Time limit reached",
    Reason.IDLE: "Stopped as idle",
    Reason.STOPPED_BY_RULE: "Stopped by a rule",
    Reason.PREEMPTED: "Preempted",
    Reason.REFUSED: "Refused by the cluster",
    Reason.LOST: "Lost",
}
IDLE_QUOTE = "Nothing was used for an hour, and it still holds its resources."
COLUMNS = (
    *("name", "phase", "reason", "message", "phase_updated_at", "completed_at", "queued_at"),
    *("run", "kind", "source", "gpus", "failure_class", "failure_line", "created_by", "project"),
)


class Trouble(StrEnum):
    FAILED = "failed"
    DEGRADED = "degraded"
    WAITING = "waiting"
    IDLE = "idle"


@dataclass(frozen=True)
class Need:
    """Why a workload needs somebody, and since when. ``quote`` is the line or the message that
    tells more."""

    trouble: Trouble
    workload: Workload
    what: str
    since: datetime
    quote: str = ""

    @property
    def key(self) -> str:
        """The need and its workload, as the form that ticks it off sends them."""
        return f"{self.trouble}:{self.workload.pk}"

    @property
    def tone(self) -> str:
        return "danger" if self.trouble is Trouble.FAILED else "warning"

    @property
    def log_address(self) -> str:
        """The address of the log, at the line that shows why the workload failed if one does."""
        address = reverse("workload-logs", args=[self.workload.pk])
        rank = self.workload.failure_line.get("rank")
        return address if rank is None else f"{address}?rank={rank}&line={FIRST_ERROR}"

    @property
    def cause(self) -> tuple[object, ...]:
        """What the needs of one sweep have in common: whose they are, what happened, and the name
        without its last part."""
        name = self.workload.name
        prefix = name.rpartition("-")[0] or name.rstrip(digits)
        owner = (self.workload.project_id, self.workload.created_by_id)
        return self.trouble, self.what, prefix, owner


@dataclass
class NeedGroup:
    """Needs that have the same cause, the newest first."""

    needs: list[Need]

    @property
    def first(self) -> Need:
        return self.needs[0]

    @property
    def listed_needs(self) -> list[Need]:
        """The needs that are listed when the group is unfolded."""
        return self.needs[:MOST_NAMED]

    @property
    def unnamed_count(self) -> int:
        return len(self.needs) - len(self.listed_needs)

    @property
    def keys(self) -> str:
        """The keys of its needs, as one value of the form that ticks them off."""
        return ",".join(need.key for need in self.needs)

    @property
    def is_folded(self) -> bool:
        return len(self.needs) > 1

    def includes(self, need: Need) -> bool:
        """Whether a need, which is older than those of the group, has the same cause."""
        last = self.needs[-1]
        return need.cause == last.cause and last.since - need.since <= SAME_CAUSE_WITHIN


def find_needs(workloads: WorkloadQuerySet, reader: User) -> list[Need]:
    """Return the needs of these workloads that ``reader`` has not ticked off, newest first."""
    now = timezone.now()
    rows = list(_not_ticked_off(_in_trouble(workloads, now), reader))
    causes = CausePeriod.objects.filter(until=None, workload__in=[row.pk for row in rows])
    titles = dict(causes.values_list("workload", "title"))
    needs = [_need_of(workload, titles.get(workload.pk, "")) for workload in rows]
    needs += _find_idle(workloads, reader, now)
    return sorted(needs, key=lambda need: need.since, reverse=True)


def count_needs(reader: User) -> int:
    """Return how many of the reader's own workloads need them."""
    return len(find_needs(Workload.objects.visible_to(reader).filter(created_by=reader), reader))


def group_needs(needs: Iterable[Need]) -> list[NeedGroup]:
    """Fold needs of the same cause into groups, which are ordered by their newest one."""
    groups: list[NeedGroup] = []
    for need in needs:
        group = next((it for it in groups if it.includes(need)), None)
        if group:
            group.needs.append(need)
        else:
            groups.append(NeedGroup([need]))
    return groups


def keys_ending_soon(reader: User) -> Sequence[AccessKey]:
    """Return the reader's access keys that end within a week, the next one first."""
    now = timezone.now()
    keys = reader.access_keys.filter(expires_at__gt=now, expires_at__lte=now + KEYS_END_WITHIN)
    return list(keys.order_by("expires_at"))


def dismiss(keys: Iterable[str], workloads: WorkloadQuerySet, *, by: User) -> int:
    """Tick needs off by their keys, for one person. ``workloads`` are those that they see; keys of
    others are ignored. Returns how many were ticked off."""
    kinds: dict[UUID, str] = {}
    for key in keys:
        kind, _, text = key.partition(":")
        pk = parse_uuid(text)
        if pk and kind in set(Trouble):
            kinds[pk] = kind
    runs = workloads.filter(pk__in=kinds).values_list("pk", "run")
    dismissals = [Dismissal(user=by, workload_id=pk, run=run, need=kinds[pk]) for pk, run in runs]
    # Another tab may have ticked off some of them already.
    Dismissal.objects.bulk_create(dismissals, ignore_conflicts=True)
    return len(dismissals)


def _in_trouble(workloads: WorkloadQuerySet, now: datetime) -> WorkloadQuerySet:
    """Return the workloads that failed, lost ranks or wait for long."""
    has_failed = Q(phase=Phase.FAILED, completed_at__gte=now - LISTED_FOR)
    has_waited = Q(phase__in=WAITING, queued_at__lt=now - LONG_WAIT)
    kind = Case(
        When(phase=Phase.FAILED, then=Value(Trouble.FAILED)),
        When(phase=Phase.DEGRADED, then=Value(Trouble.DEGRADED)),
        default=Value(Trouble.WAITING),
    )
    rows = workloads.filter(has_failed | Q(phase=Phase.DEGRADED) | has_waited)
    failed_ranks = Rank.objects.filter(
        workload=OuterRef("pk"), phase=RankPhase.FAILED, exit_code__isnull=False
    )
    first_code = Subquery(failed_ranks.order_by("finished_at").values("exit_code")[:1])
    return rows.annotate(need=kind, exit_code=first_code).order_by("-phase_updated_at")


def _not_ticked_off(rows: WorkloadQuerySet, reader: User) -> WorkloadQuerySet:
    """Return the first rows without those whose ``need`` the reader has ticked off."""
    dismissals = Dismissal.objects.filter(
        user=reader, workload=OuterRef("pk"), run=OuterRef("run"), need=OuterRef("need")
    )
    rows = rows.exclude(Exists(dismissals)).select_related("created_by", "project")
    return rows.only(*COLUMNS, "created_by__username", "project__name")[:MOST_LISTED]


def _need_of(workload: Workload, cause: str) -> Need:
    """Return the need of a workload in trouble. ``cause`` is what it waits for, if known."""
    changed = workload.phase_updated_at
    if workload.phase == Phase.FAILED:
        line = str(workload.failure_line.get("text") or "")
        since = workload.completed_at or changed
        what = failure_in_words(workload, getattr(workload, "exit_code", None))
        return Need(Trouble.FAILED, workload, what, since, line or workload.message)
    if workload.phase == Phase.DEGRADED:
        return Need(Trouble.DEGRADED, workload, "Ranks are missing", changed, workload.message)
    return Need(Trouble.WAITING, workload, "Waits", workload.queued_at, cause or workload.message)


def failure_in_words(workload: Workload, exit_code: int | None = None) -> str:
    """Return the class of a failure. If it is not known: the exit code of a rank that failed, or
    the reason."""
    failure_class = BY_ID.get(workload.failure_class)
    if failure_class:
        return failure_class.label
    if exit_code is not None and workload.reason == Reason.RANK_FAILED:
        return f"Exit code {exit_code}"
    return REASONS.get(Reason(workload.reason), "Failed")


def _find_idle(workloads: WorkloadQuerySet, reader: User, now: datetime) -> Iterator[Need]:
    """Yield the needs of trainings that do not use their GPUs, and of workspaces that use nothing.
    Only what holds the most GPUs is looked at."""
    earliest = now - LONG_IDLE
    holding = Q(gpus__gt=0) | Q(kind=WorkloadKind.WORKSPACE)
    rows = workloads.filter(holding, phase=Phase.RUNNING, phase_updated_at__lt=earliest)
    rows = rows.annotate(need=Value(Trouble.IDLE)).order_by("-gpus", "phase_updated_at")
    for workload in _not_ticked_off(rows, reader)[:MOST_IDLE]:
        is_workspace = workload.kind == WorkloadKind.WORKSPACE
        uses = uses_anything if is_workspace else uses_gpu
        since = idle_since(workload, now, uses, earliest=earliest)
        if since - earliest <= GAP:
            what = "Idle" if is_workspace else "Its GPUs are idle"
            yield Need(Trouble.IDLE, workload, what, since, IDLE_QUOTE)
