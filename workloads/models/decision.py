"""What admission decided about a workload: one row for each change."""

from typing import Self

from django.db import models

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from core.database.fields import CleanedTextField
from workloads.models.choices import reasons


class DecisionQuerySet(models.QuerySet["AdmissionDecision"]):
    def visible_to(self, user: User) -> Self:
        """Decisions about workloads that ``user`` may see, including deleted ones that are still
        kept."""
        columns = {
            "project": "workload__project",
            "department": "workload__project__department",
            "cluster": "cluster",
        }
        return self.filter(access.permitted_rows(user, "workloads.read", **columns))

    def for_page(self) -> Self:
        return self.select_related("workload__project").order_by("-at", "pk")


class AdmissionDecision(models.Model):
    """All decisions of one round have the same ``at``, and are in the order of their ids. ``kind``
    is one of ``workloads.scheduling.order.records``. ``other`` is the workload that the decision
    refers to, such as the one that this one waits for."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="decisions")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="decisions"
    )
    other = models.ForeignKey(
        "workloads.Workload", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField()
    kind = models.CharField(max_length=20)
    reason = models.CharField(max_length=30, choices=reasons, blank=True)
    why = CleanedTextField()

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "id"]
        indexes = [models.Index(fields=["cluster", "-at", "id"], name="decision_of_cluster")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}"
