"""The models of a workflow and of its groups."""

import uuid
from typing import TYPE_CHECKING, Any, Self

from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from accounts import access
from accounts.models import User
from core.database.choices import Choices, values_of
from core.database.fields import CleanedCharField, CleanedTextField
from projects.models import Project
from spec.formats.lines import LONGEST
from workflows.graph import WorkflowGroup
from workflows.statuses import FAILURES, UNFINISHED, Status
from workloads.history import events
from workloads.models import Workload

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


pool_validator = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9_-]*\Z", "Use letters, digits, - and _; start with a letter or digit."
)


class Priority(models.TextChoices):
    """The priority of a workflow, in OSMO's words."""

    HIGH = "HIGH", "High"
    NORMAL = "NORMAL", "Normal"
    LOW = "LOW", "Low"


class Keeping(models.TextChoices):
    """Whether the datasets that get the output of a group have it. It is asked for once the group
    is complete but for that."""

    NOT_YET = "", "Not yet"
    ASKED = "asked", "Asked"
    KEPT = "kept", "Kept"


def keepings() -> Choices:
    return Keeping.choices


def statuses() -> Choices:
    return values_of(Status)


def priorities() -> Choices:
    return Priority.choices


class WorkflowQuerySet(models.QuerySet["Workflow"]):
    def open_to(self, user: User, action: str) -> Self:
        """Workflows on whose workloads ``user`` may perform ``action``."""
        columns = {
            "project": "project",
            "department": "project__department",
            "cluster": "project__cluster",
        }
        return self.filter(access.permitted_rows(user, action, **columns))

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "workloads.read")

    def unfinished(self) -> Self:
        return self.filter(status__in=UNFINISHED)

    def for_list(self) -> Self:
        rows = self.select_related("project", "created_by")
        return rows.defer("original", "rendered", "files_json", "environment_json", "report_json")

    def for_detail(self) -> Self:
        return self.select_related(
            "project__cluster", "created_by", "canceled_by", "restarted_from"
        )


class Workflow(models.Model):
    """One run of a workflow. ``label`` is what people call it: its name and a number.

    ``original`` is the text that was handed in, with the ``files_json`` that it names by their
    path, the ``variables_json`` that were set, and the ``environment_json`` and ``task_size`` of
    all tasks; ``rendered`` is the text without variables, and ``report_json`` says what became of
    each part of it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label = models.CharField(max_length=80, unique=True)
    name = models.CharField(max_length=64)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="workflows")
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    priority = models.CharField(max_length=10, choices=priorities, default=Priority.NORMAL)
    status = models.CharField(max_length=30, choices=statuses, default=Status.PENDING)
    original = CleanedTextField(max_length=LONGEST, blank=True)
    rendered = CleanedTextField(max_length=LONGEST, blank=True)
    files_json = models.JSONField(default=dict, blank=True)
    variables_json = models.JSONField(default=dict, blank=True)
    environment_json = models.JSONField(default=dict, blank=True)
    task_size = models.CharField(max_length=200, blank=True)
    report_json = models.JSONField(default=list, blank=True)
    restarted_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="restarts"
    )
    canceled_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    message = CleanedTextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    objects = WorkflowQuerySet.as_manager()

    if TYPE_CHECKING:
        groups: RelatedManager["GroupRun"]
        restarts: RelatedManager["Workflow"]

    class Meta:
        verbose_name = "workflow"
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["status"], name="workflow_status"),
            models.Index(fields=["project", "-created_at"], name="workflow_project"),
        ]

    def __str__(self) -> str:
        return self.label

    def get_absolute_url(self) -> str:
        return reverse("workflow-detail", args=[self.pk])

    def runs(self) -> "list[GroupRun]":
        """Return its groups in order, with their workloads."""
        return list(self.groups.select_related("workload__project"))

    @property
    def is_finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def state(self) -> Status:
        return Status(self.status)

    @property
    def can_restart(self) -> bool:
        """Whether it failed, so that its failed groups can run again."""
        return self.status in FAILURES

    @property
    def seconds(self) -> float | None:
        """How long it has run, or ran; ``None`` before its first group does."""
        if self.started_at is None:
            return None
        return ((self.completed_at or timezone.now()) - self.started_at).total_seconds()

    @property
    def queued_seconds(self) -> float:
        """How long it waited for its first group to run."""
        end = self.started_at or self.completed_at or timezone.now()
        return (end - self.created_at).total_seconds()

    def announce(self) -> None:
        """After the commit, have open pages reload this workflow."""
        events.publish(self.project_id, f"f-{self.pk}")


class PoolQuerySet(models.QuerySet["Pool"]):
    def visible_to(self, user: User) -> Self:
        """Pools whose project ``user`` sees."""
        return self.filter(project__in=Project.objects.open_to(user, "projects.read"))


class Pool(models.Model):
    """A pool of OSMO: a name by which workflow files and OSMO's command line know a project."""

    name = models.CharField(primary_key=True, max_length=64, validators=[pool_validator])
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="osmo_pools")
    description = CleanedCharField(max_length=200, blank=True)

    objects = PoolQuerySet.as_manager()

    class Meta:
        verbose_name = "pool"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class WorkflowNumber(models.Model):
    """The number of the last workflow of a name. It only grows: a deleted workflow's is not used
    again, because its logs and its entries in the audit log are kept."""

    name = models.CharField(primary_key=True, max_length=64)
    last = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}-{self.last}"

    @classmethod
    def take_next(cls, name: str) -> int:
        """Return the next number. Call it in a transaction, which locks the name until it ends."""
        cls.objects.get_or_create(name=name)
        cls.objects.filter(name=name).update(last=F("last") + 1)
        return cls.objects.get(name=name).last


class GroupRun(models.Model):
    """One group of a workflow: the workload that runs it and what became of it.

    ``definition_json`` is a :class:`workflows.graph.WorkflowGroup`. ``retries`` counts how often it
    was started again by an exit action; each start is a workload of its own. ``port`` is the one
    that its tasks have in place of the usual one, where they share those of a machine.
    """

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="groups")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=64)
    definition_json = models.JSONField()
    workload = models.ForeignKey(
        Workload, on_delete=models.SET_NULL, null=True, blank=True, related_name="workflow_groups"
    )
    status = models.CharField(max_length=30, choices=statuses, default=Status.WAITING)
    failure = CleanedTextField(blank=True)
    retries = models.PositiveIntegerField(default=0)
    keeping = models.CharField(max_length=10, choices=keepings, default=Keeping.NOT_YET, blank=True)
    port = models.PositiveIntegerField(null=True, blank=True)
    scheduled_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["workflow_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["workflow", "position"], name="one_group_a_position"),
            models.UniqueConstraint(fields=["workflow", "name"], name="one_group_a_name"),
            models.UniqueConstraint(
                fields=["port"],
                condition=Q(status__in=sorted(UNFINISHED)),
                name="one_unfinished_group_a_port",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def definition(self) -> WorkflowGroup:
        return WorkflowGroup.model_validate(self.definition_json)

    @property
    def is_finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def state(self) -> Status:
        return Status(self.status)

    def draft_id_of(self, retry: int) -> uuid.UUID:
        """Return the id of the draft of a start. It depends on nothing else, so that a start that
        happens twice submits one workload."""
        return uuid.uuid5(self.workflow_id, f"{self.position}/{retry}")

    def workloads(self) -> dict[int, Workload]:
        """Return the workloads of all its starts that are still kept, by how often the group had
        been started before, the first one first."""
        retries = {self.draft_id_of(retry): retry for retry in range(self.retries + 1)}
        rows = Workload.objects.filter(draft_id__in=retries)
        found = {retries[row.draft_id]: row for row in rows if row.draft_id}
        return {retry: found[retry] for retry in sorted(found)}

    def move(self, to: Status, **columns: Any) -> bool:
        """Move to another status, and set ``columns`` in the same statement. ``False`` if another
        process was first."""
        now = timezone.now()
        columns["status"] = to
        if to is Status.RUNNING and self.started_at is None:
            columns["started_at"] = now
        if to not in UNFINISHED:
            columns["completed_at"] = now
        # A guarded UPDATE: if two processes move the group, its status and its number of starts let
        # one of them through.
        rows = GroupRun.objects.filter(pk=self.pk, status=self.status, retries=self.retries)
        with transaction.atomic():
            if not rows.update(**columns):
                return False
            self.workflow.announce()
        for column, value in columns.items():
            setattr(self, column, value)
        return True
