"""Clusters, their nodes and node pools, as of the last check."""

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse

from accounts import access
from accounts.models import User
from clusters.kinds import KINDS
from clusters.kinds.base import ClusterKind, ConnectionSecret, ConnectionSettings
from clusters.kinds.local import LOCAL
from clusters.stored import capabilities_of, findings_of, gpus_of
from core.database.choices import Choices
from core.database.fields import CleanedJSONField, CleanedTextField, EncryptedTextField
from engines.base import Capabilities
from engines.findings import Finding, refusal_of
from engines.nodes import Gpu
from spec.formats.stored import document_fault
from spec.parts.scheduling import DEFAULT_POOL

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


def kinds() -> Choices:
    return [(kind.slug, kind.label) for kind in KINDS.values()]


class State(models.TextChoices):
    """Run:ai's cluster states."""

    WAITING = "WaitingToConnect", "Waiting to connect"
    CONNECTED = "Connected", "Connected"
    DISCONNECTED = "Disconnected", "Disconnected"
    MISSING = "MissingPrerequisites", "Missing prerequisites"
    ISSUES = "ServiceIssues", "Service issues"


def states() -> Choices:
    return State.choices


LABEL_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
pool_rule = RegexValidator(
    r"^[a-z]([-a-z0-9]*[a-z0-9])?\Z",
    "Start with a letter; use lower-case letters, digits and hyphens.",
)
key_rule = RegexValidator(
    rf"^({LABEL_KEY}/)?{LABEL_KEY}\Z", "Write a label key such as gpu-type or example.com/gpu-type."
)
value_rule = RegexValidator(
    rf"^({LABEL_KEY})?\Z", "Use letters, digits, hyphens, underscores and dots; it may be empty."
)


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def open_to(self, user: Any, action: str) -> Self:
        """Clusters in the whole of which the user may perform ``action``."""
        return self.filter(access.permitted_rows(user, action, cluster="pk"))

    def visible_to(self, user: Any) -> Self:
        """Clusters that the user may see: those in which, or in whose projects, they have a
        role."""
        columns = {"cluster": "pk", "department": "departments", "project": "projects"}
        permitted = access.permitted_rows(user, "clusters.read", **columns)
        return self.filter(permitted).distinct() if permitted else self


class Cluster(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=63, unique=True)
    kind = models.CharField(max_length=20, choices=kinds, default=LOCAL.slug)
    state = models.CharField(max_length=30, choices=states, default=State.WAITING)
    state_message = CleanedTextField(blank=True)
    capabilities_json = CleanedJSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)  # the last check that it answered
    findings_json = CleanedJSONField(default=list, blank=True)  # of the last check
    # Totals of all ready nodes, stored here because there may be thousands of nodes.
    gpu_count = models.PositiveIntegerField(default=0)
    ready_nodes: "list[Node] | None" = None  # cached on this object for several readers
    cpu = models.FloatField(default=0)  # cores
    memory = models.BigIntegerField(default=0)  # bytes
    # Bytes of the smallest GPU, to convert a request for GPU memory into a fraction.
    gpu_memory = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True, blank=True)  # of requests; null: unknown
    has_virtual_gpus = models.BooleanField(default=False)
    settings_json = models.JSONField(default=dict, blank=True)  # a document of its kind's settings
    # Increases with each change of the connection, so that every process notices it and connects
    # again, and no result of an earlier connection is stored.
    connection_version = models.PositiveIntegerField(default=0, editable=False)

    objects = ClusterQuerySet.as_manager()
    _capabilities_cache: tuple[Any, Capabilities] | None = None  # their JSON, and what it says

    if TYPE_CHECKING:
        nodes: RelatedManager["Node"]
        pools: RelatedManager["NodePool"]

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("cluster-detail", args=[self.pk])

    @property
    def scope_keys(self) -> tuple[str, ...]:
        return (access.scope_key("cluster", self.pk),)

    @property
    def definition(self) -> ClusterKind:
        return KINDS[self.kind]

    @property
    def settings(self) -> ConnectionSettings:
        """The settings of the cluster's kind. ``ValidationError`` if current rules no longer accept
        them."""
        return self.definition.settings.of(self)

    @property
    def capabilities(self) -> Capabilities:
        """What the cluster offered at the last check. If that can no longer be read, it offers
        nothing until the next check."""
        cache = self._capabilities_cache
        if cache is None or cache[0] is not self.capabilities_json:
            nothing = Capabilities(frameworks=(), queues=self.definition.has_queue)
            cache = (self.capabilities_json, capabilities_of(self.capabilities_json) or nothing)
            self._capabilities_cache = cache  # a plan reads this seven times
        return cache[1]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the last check."""
        return findings_of(self.findings_json)

    @property
    def refusal(self) -> str:
        """Why nothing may be submitted to the cluster, as of the last check, in words for
        administrators. Empty if workloads may."""
        return refusal_of(self.findings)

    @property
    def settings_fault(self) -> str:
        """Why the settings are no longer valid; empty if they are."""
        return document_fault(self.definition.settings, self.settings_json)

    @property
    def outage(self) -> str:
        """Why the cluster does not answer; empty if it does."""
        if fault := self.settings_fault:
            return f"Its settings are no longer valid: {fault}. An administrator can change them."
        return self.state_message if self.state == State.DISCONNECTED else ""


class Installation(models.Model):
    """This Trainyard, as opposed to others on the same Kubernetes cluster. There is one row, which
    is created on first use. A restored backup is the same installation."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    mark = models.UUIDField(default=uuid.uuid4, editable=False)

    def __str__(self) -> str:
        return self.mark.hex

    @classmethod
    def current_mark(cls) -> str:
        """Return the mark of this Trainyard's objects on clusters."""
        return str(cls.objects.get_or_create(pk=cls.ONLY)[0])


class Connection(models.Model):
    """The secret of a cluster, in a table of its own so that no page ever loads it."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="connection"
    )
    secret_json = EncryptedTextField(blank=True)  # a document of its kind's secret

    def __str__(self) -> str:
        return f"connection to {self.cluster_id}"


class ConnectionTest(models.Model):
    """A test of a connection that is saved, or is to be saved.

    The secret is stored here, encrypted, so that neither the broker nor the page contains it.
    Without a secret, the saved connection is tested. ``answered_at`` is null until a worker has
    tested the connection. Rows are deleted after an hour.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, null=True, blank=True, related_name="tests"
    )
    asked_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=kinds)
    settings_json = models.JSONField(default=dict, blank=True)
    secret_json = EncryptedTextField(blank=True)
    values_json = models.JSONField(default=dict, blank=True)  # the rest of the form, to restore it
    findings_json = CleanedJSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"test of {self.cluster_id or 'a new cluster'}"

    @property
    def definition(self) -> ClusterKind:
        return KINDS[self.kind]

    @property
    def secret(self) -> ConnectionSecret | None:
        text = self.secret_json
        return self.definition.secret.model_validate_json(text) if text else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return findings_of(self.findings_json)


class NodePool(models.Model):
    """The nodes with a label. Nodes in no pool form the pool ``default``."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="pools")
    name = models.CharField(max_length=63, validators=[pool_rule])
    label_key = models.CharField(max_length=317, validators=[key_rule])
    label_value = models.CharField(max_length=63, blank=True, validators=[value_rule])
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    if TYPE_CHECKING:
        nodes: RelatedManager["Node"]

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_pool_of_a_name"),
            models.UniqueConstraint(
                fields=["cluster", "label_key", "label_value"], name="one_pool_of_a_label"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class NodeQuerySet(models.QuerySet["Node"]):
    def in_pool(self, name: str) -> Self:
        return self.filter(pool=None) if name == DEFAULT_POOL else self.filter(pool__name=name)


class Node(models.Model):
    """A machine: ``cpu`` in cores, ``memory`` in bytes.

    ``allocated_*`` are the requests of all pods on it, also of other programs; null if the engine
    does not know them.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    ready = models.BooleanField(default=True)
    message = CleanedTextField(blank=True)
    cpu = models.FloatField()
    memory = models.BigIntegerField()
    gpus_json = CleanedJSONField(default=list, blank=True)
    gpu_count = models.PositiveIntegerField(default=0)
    pool = models.ForeignKey(
        NodePool, on_delete=models.SET_NULL, null=True, blank=True, related_name="nodes"
    )
    labels_json = CleanedJSONField(default=dict, blank=True)
    taints_json = CleanedJSONField(default=list, blank=True)
    conditions_json = CleanedJSONField(default=list, blank=True)
    allocated_cpu = models.FloatField(null=True, blank=True)
    allocated_memory = models.BigIntegerField(null=True, blank=True)
    allocated_gpus = models.FloatField(null=True, blank=True)

    objects = NodeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_node_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        return gpus_of(self.gpus_json)

    @gpus.setter
    def gpus(self, gpus: tuple[Gpu, ...]) -> None:
        self.gpus_json = [asdict(gpu) for gpu in gpus]
        self.gpu_count = len(gpus)
