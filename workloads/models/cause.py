"""What kept a workload from running, and when: one row for each change of cause."""

from django.db import models
from django.utils import timezone

from core.database.fields import CleanedCharField, CleanedJSONField, CleanedTextField
from workloads.models.choices import cause_kinds


class CausePeriod(models.Model):
    """One cause while it lasted. ``said`` quotes the cluster; ``evidence`` counts the nodes that
    each reason rules out.

    The row without ``until`` is the present cause; there is at most one.
    """

    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="causes"
    )
    run = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=cause_kinds)
    title = CleanedCharField(max_length=300)
    todo = CleanedTextField(blank=True)
    said = CleanedTextField(blank=True)
    who = CleanedCharField(max_length=80, blank=True)
    evidence = CleanedJSONField(default=dict, blank=True)
    since = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["workload_id", "since", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workload"], condition=models.Q(until=None), name="one_cause_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def seconds(self) -> float:
        """How long it has kept the workload waiting."""
        return max(((self.until or timezone.now()) - self.since).total_seconds(), 0.0)
