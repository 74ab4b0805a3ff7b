"""Clusters and the machines in them, as last seen by the monitor."""

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from django.core.validators import RegexValidator, URLValidator
from django.db import models
from django.urls import reverse

from accounts.models import User
from core.fields import EncryptedTextField
from engines.base import Capabilities, Finding, FrameworkSupport, Gpu, Level
from spec.workload import Framework

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class Kind(models.TextChoices):
    LOCAL = "local", "This machine"
    KUBERNETES = "kubernetes", "Kubernetes"


class State(models.TextChoices):
    """Run:ai's cluster states."""

    WAITING = "WaitingToConnect", "Waiting to connect"
    CONNECTED = "Connected", "Connected"
    DISCONNECTED = "Disconnected", "Disconnected"
    MISSING = "MissingPrerequisites", "Missing prerequisites"
    ISSUES = "ServiceIssues", "Service issues"


PREFIX = "trainyard-"
DEFAULT_POOL = "default"  # of every node that no pool's label matches; it has no row
KEY = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
prefix_rule = RegexValidator(
    r"^[a-z][-a-z0-9]*\Z", "Start with a letter; use lower-case letters, digits and hyphens."
)
domain_rule = RegexValidator(
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z",
    "Write a domain such as apps.example.com: lower-case, without a scheme, a port or a star.",
)
class_rule = RegexValidator(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z", "Write the name of an ingress class, such as nginx."
)
pool_rule = RegexValidator(
    r"^[a-z]([-a-z0-9]*[a-z0-9])?\Z",
    "Start with a letter; use lower-case letters, digits and hyphens.",
)
key_rule = RegexValidator(
    rf"^({KEY}/)?{KEY}\Z", "Write a label key such as gpu-type or example.com/gpu-type."
)
value_rule = RegexValidator(
    rf"^({KEY})?\Z", "Use letters, digits, hyphens, underscores and dots; it may be empty."
)


def found_in(rows: list[dict[str, Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(**{**row, "level": Level(row["level"])}) for row in rows)


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def visible_to(self, user: Any) -> Self:
        """Administrators see every cluster; others those that hold one of their projects."""
        if user.is_administrator:
            return self
        return self.filter(projects__members=user).distinct()


class Cluster(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=63, unique=True)
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.LOCAL)
    state = models.CharField(max_length=30, choices=State.choices, default=State.WAITING)
    state_message = models.TextField(blank=True)
    capabilities_json = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    findings_json = models.JSONField(default=list, blank=True)  # of the last look at what it needs
    # Of all ready nodes together, and kept here because there may be thousands of them.
    gpu_count = models.PositiveIntegerField(default=0)
    cpu = models.FloatField(default=0)  # cores
    memory = models.BigIntegerField(default=0)  # bytes
    # Bytes of the smallest GPU, by which a request for GPU memory becomes a portion.
    gpu_memory = models.BigIntegerField(default=0)
    has_virtual_gpus = models.BooleanField(default=False)
    # Each project's namespace is named after it behind this; 23 + a project's 40 make a DNS label.
    namespace_prefix = models.CharField(max_length=23, default=PREFIX, validators=[prefix_rule])
    ingress_domain = models.CharField(max_length=190, blank=True, validators=[domain_rule])
    ingress_class = models.CharField(max_length=63, blank=True, validators=[class_rule])
    prometheus_url = models.CharField(
        max_length=500, blank=True, validators=[URLValidator(["http", "https"])]
    )
    # Grows with each change of how the cluster is reached, so that every process notices.
    connection_version = models.PositiveIntegerField(default=0, editable=False)

    objects = ClusterQuerySet.as_manager()

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
    def capabilities(self) -> Capabilities:
        """What the cluster offered when it was last asked."""
        data = self.capabilities_json
        frameworks = tuple(
            FrameworkSupport(**{**item, "framework": Framework(item["framework"])})
            for item in data.get("frameworks", [])
        )
        return Capabilities(
            frameworks=frameworks,
            queues=data.get("queues", False),
            schedulers=tuple(data.get("schedulers", ())),
            storage_classes=tuple(data.get("storage_classes", ())),
            priority_classes=tuple(data.get("priority_classes", ())),
            terminal=data.get("terminal", False),
            quotas=data.get("quotas", False),
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was there and what lacked when it was last asked."""
        return found_in(self.findings_json)

    @property
    def silence(self) -> str:
        """Why nothing is heard of it, while that is so."""
        return self.state_message if self.state == State.DISCONNECTED else ""


class Connection(models.Model):
    """How a cluster is reached. Apart from the cluster, so that no page ever reads a secret."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="connection"
    )
    kubeconfig = EncryptedTextField(blank=True)  # empty: the service account of our own pod

    def __str__(self) -> str:
        return f"connection to {self.cluster_id}"


class ConnectionTest(models.Model):
    """A look at what a cluster lacks, before its connection is kept or whenever somebody asks.

    It holds the kubeconfig, encrypted, so that neither the broker nor the page has to carry it.
    ``answered_at`` is empty until a worker looked; rows go after an hour.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, null=True, blank=True, related_name="tests"
    )
    asked_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    kubeconfig = EncryptedTextField(blank=True)
    in_cluster = models.BooleanField(default=False)
    values_json = models.JSONField(default=dict, blank=True)  # the rest of the form, to show again
    findings_json = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"test of {self.cluster_id or 'a new cluster'}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        return found_in(self.findings_json)


class NodePool(models.Model):
    """The nodes that carry one label. The rest of a cluster is the pool ``default``."""

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

    ``allocated_*`` is what pods on it, whoever owns them, asked for; empty where the engine cannot
    know it.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    ready = models.BooleanField(default=True)
    message = models.TextField(blank=True)
    cpu = models.FloatField()
    memory = models.BigIntegerField()
    gpus_json = models.JSONField(default=list, blank=True)
    gpu_count = models.PositiveIntegerField(default=0)
    pool = models.ForeignKey(
        NodePool, on_delete=models.SET_NULL, null=True, blank=True, related_name="nodes"
    )
    labels_json = models.JSONField(default=dict, blank=True)
    taints_json = models.JSONField(default=list, blank=True)
    conditions_json = models.JSONField(default=list, blank=True)
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
        return tuple(Gpu(**item) for item in self.gpus_json)

    @gpus.setter
    def gpus(self, gpus: tuple[Gpu, ...]) -> None:
        self.gpus_json, self.gpu_count = [asdict(gpu) for gpu in gpus], len(gpus)
