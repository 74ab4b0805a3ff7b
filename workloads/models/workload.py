"""The workload: a submitted spec and its current state."""

import uuid
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.db.models.expressions import Combinable
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import User
from assets.fields import DocumentField
from assets.models import Template
from clusters.models import Cluster, NodePool
from core.database.fields import CleanedJSONField, CleanedTextField
from core.templatetags.core import duration
from engines.base import Handle
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats import documents
from spec.formats.stored import as_mapping, document_fault
from spec.phases import (
    ACTIVE,
    HOLDING_RESOURCES,
    MOVES,
    STOPPABLE,
    TERMINAL,
    WAITING,
    Phase,
    Reason,
    counts_as_running,
)
from spec.workload import DEFAULT_AUTO_DELETION_SECONDS, WorkloadSpec
from workloads.models import choices
from workloads.models.checkpoint import Checkpoint
from workloads.models.queries import WorkloadQuerySet
from workloads.models.retention import removal_time, retention_sentence, with_the_project
from workloads.models.times import times_of_move

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from workloads.models.asset import WorkloadAsset
    from workloads.models.attempt import Attempt
    from workloads.models.cause import CausePeriod
    from workloads.models.event import Event
    from workloads.models.rank import Rank
    from workloads.models.sample import Sample

#: One index for each sort order of the workloads table, see ``workloads.table.keyset``.
SORTED_BY = (
    "created_at completed_at name framework phase num_pods gpus cpu_cores memory_bytes image "
    "pending_seconds running_seconds "
    "project"  # not a sort order, but the filter of every researcher's page
).split()

TABLE_INDEXES = [
    models.Index(
        fields=[*dict.fromkeys((field, "created_at", "id"))],
        condition=Q(deleted_at=None),
        name=f"table_by_{field}",
    )
    for field in SORTED_BY
] + [
    models.Index(
        fields=["deleted_at", "created_at", "id"],
        condition=Q(deleted_at__isnull=False),
        name="table_of_deleted",
    ),
    # A covering index for the search: without a match it reads no whole rows.
    models.Index(
        fields=["created_at", "id", "name", "image", "project", "created_by", "deleted_at"],
        name="table_search",
    ),
]

#: Partial indexes: only workloads that have the limit.
LIMIT_INDEXES = [
    models.Index(
        fields=["phase"],
        condition=Q(deleted_at=None, **{f"{limit}_limit_seconds__isnull": False}),
        name=f"workload_{limit}_limit",
    )
    for limit in ("time", "idle", "rule_time", "idle_gpu")
]


@cache
def _address_around_id(script_prefix: str) -> tuple[str, str]:
    """Return the parts of a workload's address before and after its id. Cached, because each row of
    a table needs them."""
    example = uuid.UUID(int=0)
    before, _, after = reverse("workload-detail", args=[example]).partition(str(example))
    return before, after


class Workload(models.Model):
    """``spec_json`` holds every value, defaults included, and never changes after submission. The
    phase moves by :meth:`move` alone.

    ``run`` counts the user's starts (submission is 1, each Run of a stopped one adds one),
    ``attempt`` the gang's starts within the run. An observation counts only when it is later than
    the last one applied, ``(observed_run, observed_sequence)``. CPU is in cores, memory in bytes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=63)
    project = models.ForeignKey(Project, on_delete=with_the_project, related_name="workloads")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="workloads")
    # The node pool in whose quota it counts; null for the default pool.
    pool = models.ForeignKey(
        NodePool, on_delete=models.SET_NULL, null=True, blank=True, related_name="workloads"
    )
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="workloads"
    )
    source = models.CharField(max_length=10, choices=choices.sources, default=choices.Source.FORM)
    # Unique, so that submitting a draft twice returns the same workload.
    draft_id = models.UUIDField(null=True, blank=True, unique=True, editable=False)
    draft_json = DocumentField(WorkloadDraft, default=dict)
    spec_json = DocumentField(WorkloadSpec)
    # The Kubernetes manifest that it was submitted as, unchanged; null for any other.
    manifest_json = models.JSONField(null=True, blank=True, editable=False)
    origins_json = models.JSONField(default=dict, blank=True)
    template = models.ForeignKey(
        Template, on_delete=models.SET_NULL, null=True, blank=True, related_name="workloads"
    )
    copied_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="copies"
    )

    # The number of the job array that it is an element of, and how many of its elements may run at
    # once; null without such a limit.
    array_number = models.PositiveIntegerField(null=True, blank=True, editable=False)
    array_limit = models.PositiveIntegerField(null=True, blank=True, editable=False)

    phase = models.CharField(max_length=20, choices=choices.phases, default=Phase.CREATING)
    reason = models.CharField(max_length=30, choices=choices.reasons, blank=True, default="")
    message = CleanedTextField(blank=True)
    phase_updated_at = models.DateTimeField(default=timezone.now)
    run = models.PositiveIntegerField(default=1)
    attempt = models.PositiveIntegerField(default=0)
    # When this run was given to a cluster that queues for itself; null on any other cluster.
    handed_over_at = models.DateTimeField(null=True, blank=True)
    observed_run = models.PositiveIntegerField(default=0)
    observed_sequence = models.BigIntegerField(default=0)

    created_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    auto_delete_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    pending_seconds = models.FloatField(default=0)
    running_seconds = models.FloatField(default=0)

    # Copies of values in the spec, so that the table can sort and filter in SQL, and the sweep
    # finds limits without reading specs.
    kind = models.CharField(max_length=20, choices=choices.kinds, default="distributed")
    framework = models.CharField(max_length=20, blank=True, choices=choices.frameworks)
    architecture = models.CharField(max_length=30, choices=choices.architectures)
    image = models.CharField(max_length=512)
    num_pods = models.PositiveIntegerField()
    running_pods = models.PositiveIntegerField(default=0)
    gpus = models.FloatField(default=0)
    cpu_cores = models.FloatField(default=0)
    memory_bytes = models.BigIntegerField(default=0)
    time_limit_seconds = models.PositiveIntegerField(null=True, blank=True, editable=False)
    idle_limit_seconds = models.PositiveIntegerField(null=True, blank=True, editable=False)
    # The limits of the scheduling rules at the submission; ``rules_json`` says by column whose rule
    # each is and what its owner may extend it to (workloads.scheduling.limits.rule_limits).
    rule_time_limit_seconds = models.PositiveIntegerField(null=True, blank=True, editable=False)
    idle_gpu_limit_seconds = models.PositiveIntegerField(null=True, blank=True, editable=False)
    rules_json = models.JSONField(default=dict, blank=True, editable=False)
    limits_extended_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What was foreseen at the submission: an ``Answer`` of workloads.scheduling.fit (empty if none
    # was asked for) and the kind of cause it was expected to wait for.
    verdict = models.CharField(max_length=10, blank=True)
    verdict_cause = models.CharField(max_length=20, choices=choices.cause_kinds, blank=True)
    # How long it waited until its first run started, with a place for every rank.
    first_wait_seconds = models.FloatField(null=True, blank=True)
    # Whether all output of this run is in our own store.
    logs_complete = models.BooleanField(default=False)
    # The class of failure found in its log (workloads.diagnosis), and the line it was found by.
    failure_class = models.CharField(max_length=40, blank=True)
    failure_line = CleanedJSONField(default=dict, blank=True)
    # The training's last sample, and the course of a few metrics (workloads.metrics.curve).
    last_metrics = CleanedJSONField(default=dict, blank=True)
    curves = CleanedJSONField(default=dict, blank=True)
    #: Since which step a metric has been NaN or infinite, by name.
    not_finite = CleanedJSONField(default=dict, blank=True)

    #: The newest checkpoints that the training reported, oldest first: run, step, at, bytes.
    checkpoints = CleanedJSONField(default=list, blank=True)

    objects = WorkloadQuerySet.as_manager()
    warnings: Any = None  # of its plan; only on the object that was just created

    if TYPE_CHECKING:
        assets: RelatedManager["WorkloadAsset"]
        attempts: RelatedManager["Attempt"]
        causes: RelatedManager["CausePeriod"]
        ranks: RelatedManager["Rank"]
        events: RelatedManager["Event"]
        samples: RelatedManager["Sample"]

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=Q(deleted_at=None),
                name="one_workload_of_a_name",
            )
        ]
        indexes = [
            *TABLE_INDEXES,
            *LIMIT_INDEXES,
            models.Index(fields=["cluster", "phase", "queued_at"], name="workload_queue"),
            models.Index(fields=["project", "phase"], name="workload_project_phase"),
            models.Index(
                fields=["cluster"],
                condition=Q(logs_complete=False),
                name="workload_logs_to_collect",
            ),
            models.Index(
                fields=["auto_delete_at"],
                condition=Q(auto_delete_at__isnull=False, deleted_at=None),
                name="workload_auto_deletion",
            ),
            models.Index(
                fields=["array_number"],
                condition=Q(array_number__isnull=False, deleted_at=None),
                name="workload_array",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        before, after = _address_around_id(get_script_prefix())
        return f"{before}{self.pk}{after}"

    @property
    def spec(self) -> WorkloadSpec:
        return documents.load_spec(self.spec_json)

    @cached_property
    def spec_fault(self) -> str:
        """Why current rules no longer accept the spec, in words; empty if they do."""
        return document_fault(WorkloadSpec, self.spec_json)

    @property
    def node_pools(self) -> tuple[str, ...]:
        """The node pools that its spec names, the preferred one first."""
        return tuple(as_mapping(self.spec_json).get("nodePools") or ())

    @property
    def has_tools(self) -> bool:
        spec = as_mapping(self.spec_json)
        replicas = [spec.get("worker"), spec.get("master"), *(spec.get("roles") or ())]
        has_connections = any(as_mapping(replica).get("connections") for replica in replicas)
        return bool(spec.get("relatedUrls")) or has_connections

    @property
    def handle(self) -> Handle:
        return Handle(self.pk, self.name, self.project.name)

    @property
    def is_active(self) -> bool:
        return self.phase in ACTIVE

    @property
    def has_ended(self) -> bool:
        """Whether it completed or failed."""
        return self.phase in TERMINAL

    @property
    def is_settled(self) -> bool:
        """Whether the workload no longer changes by itself: it ended, and all of its output is
        stored."""
        return self.logs_complete and not self.is_active

    @property
    def retention_sentence(self) -> str:
        return retention_sentence()

    @property
    def removal_time(self) -> datetime | None:
        """When a deleted workload is removed for good; ``None`` if it is not deleted."""
        if self.deleted_at is None:
            return None
        return removal_time(ended=self.completed_at or self.deleted_at, deleted=self.deleted_at)

    @property
    def holds_resources(self) -> bool:
        """Whether the workload holds resources of its cluster."""
        return self.phase in HOLDING_RESOURCES

    @property
    def can_stop(self) -> bool:
        return self.phase in STOPPABLE

    @property
    def can_run(self) -> bool:
        """Whether Run starts it again. The end of a workload of a workflow has been counted there,
        so only one that reached a time limit, which the workflow has, goes on."""
        is_counted = self.source == choices.Source.WORKFLOW and self.has_ended
        if is_counted and self.reason != Reason.DEADLINE_EXCEEDED:
            return False
        return Phase.RESUMING in MOVES[Phase(self.phase)]

    @property
    def can_delete(self) -> bool:
        return Phase.DELETING in MOVES[Phase(self.phase)]

    @property
    def pending_total(self) -> float:
        """Seconds spent waiting so far, in all runs."""
        return self.pending_seconds + self._seconds_in_phase_if(self.phase in WAITING)

    @property
    def running_total(self) -> float:
        """Seconds spent running so far, in all runs."""
        return self.running_seconds + self._seconds_in_phase_if(
            counts_as_running(self.phase, self.reason)
        )

    def _seconds_in_phase_if(self, counts: bool) -> float:
        spent = (timezone.now() - self.phase_updated_at).total_seconds()
        return max(spent, 0.0) if counts else 0.0

    def move(
        self,
        to: Phase,
        *,
        reason: Reason = Reason.NONE,
        message: str = "",
        at: datetime | None = None,
        **also: Any,
    ) -> bool:
        """Move to another phase; ``False`` if the move is illegal or another process was first.

        ``at`` is the time of the change according to the cluster. It is ignored if it is not later
        than the start of the present phase. ``also`` are other columns to set in the same
        statement.
        """
        origin = Phase(self.phase)
        now = timezone.now()
        if at and at > self.phase_updated_at:
            now = at
        if to not in MOVES[origin]:
            return False
        changes = {
            "phase": to,
            "reason": reason,
            "message": message,
            "phase_updated_at": now,
            **times_of_move(self, origin, to, now),
            **also,
        }
        # A guarded UPDATE: if two processes move the workload, the phase lets one of them through.
        rows = Workload.objects.filter(pk=self.pk, phase=origin, run=self.run, deleted_at=None)
        won = rows.update(**changes)
        if won:
            self._set_written_values(changes)
        return bool(won)

    def _set_written_values(self, changes: dict[str, Any]) -> None:
        """Set the written values on this object. Values that the database computed are loaded on
        access."""
        for name, value in changes.items():
            if isinstance(value, Combinable):
                self.__dict__.pop(name, None)
            else:
                setattr(self, name, value)

    def newest_checkpoints(self, most: int) -> list[Checkpoint]:
        """Return the newest checkpoints that the training reported, the last one first."""
        entries = self.checkpoints[::-1][:most]
        return [Checkpoint.from_entry(entry) for entry in entries]

    @property
    def last_checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint that the training reported; ``None`` if it reported none."""
        return next(iter(self.newest_checkpoints(1)), None)

    @property
    def seconds_at_risk(self) -> float | None:
        """For how long a running workload has saved nothing; ``None`` if it reports no checkpoints,
        or does not run."""
        saved = self.last_checkpoint
        if saved is None or not counts_as_running(self.phase, self.reason):
            return None
        since = max(saved.at, self.phase_updated_at)
        return max((timezone.now() - since).total_seconds(), 0.0)

    @property
    def risk_sentence(self) -> str:
        """What is lost if the workload ends without saving; empty if nobody knows."""
        saved = self.last_checkpoint
        seconds = self.seconds_at_risk
        if saved is None or seconds is None:
            return ""
        unsaved = f"{duration(seconds)} of work are not saved yet"
        return f"Its last checkpoint is that of step {saved.step}; {unsaved}."

    @property
    def array_sentence(self) -> str:
        """The limit of its job array; empty without one."""
        if self.array_limit is None:
            return ""
        return f"At most {self.array_limit} of the elements of its job array run at once."

    @property
    def priority(self) -> str:
        """The priority class in the spec; empty for the default."""
        return str(as_mapping(self.spec_json).get("priorityClass") or "")

    @property
    def queue(self) -> str:
        """The queue of Kueue in the spec; empty without one."""
        return str(as_mapping(self.spec_json).get("queue") or "")

    @property
    def queue_origin(self) -> str:
        """What chose the queue, such as the project; empty if a user did."""
        origin = str(as_mapping(self.origins_json).get("queue") or "user")
        return "" if origin == "user" else origin

    @property
    def category(self) -> str:
        """The category in the spec; empty without one."""
        return str(as_mapping(self.spec_json).get("category") or "")

    @property
    def auto_deletion_seconds(self) -> int:
        key = "autoDeletionTimeAfterCompletionSeconds"
        return int(as_mapping(self.spec_json).get(key, DEFAULT_AUTO_DELETION_SECONDS))
