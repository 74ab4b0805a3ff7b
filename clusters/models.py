"""Clusters and the machines in them, as last seen by the monitor."""

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.urls import reverse

from core.fields import EncryptedTextField
from engines.base import Capabilities, FrameworkSupport, Gpu
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

    objects = ClusterQuerySet.as_manager()

    if TYPE_CHECKING:
        nodes: RelatedManager["Node"]

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
        )

    @property
    def gpu_memory(self) -> int:
        """Bytes of the smallest GPU here, by which a request for GPU memory becomes a portion."""
        return min((gpu.memory for node in self.nodes.all() for gpu in node.gpus), default=0)

    @property
    def has_virtual_gpus(self) -> bool:
        return any(gpu.virtual for node in self.nodes.all() for gpu in node.gpus)


class Connection(models.Model):
    """How a cluster is reached. Apart from the cluster, so that no page ever reads a secret."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="connection"
    )
    kubeconfig = EncryptedTextField(blank=True)  # empty: the service account of our own pod

    def __str__(self) -> str:
        return f"connection to {self.cluster_id}"


class Node(models.Model):
    """A machine: ``cpu`` in cores, ``memory`` in bytes."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    ready = models.BooleanField(default=True)
    message = models.TextField(blank=True)
    cpu = models.FloatField()
    memory = models.BigIntegerField()
    gpus_json = models.JSONField(default=list, blank=True)

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
        self.gpus_json = [asdict(gpu) for gpu in gpus]
