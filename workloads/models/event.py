"""An event in the life of a workload: what happened, by whom, and why. Append-only."""

from django.db import models
from django.utils import timezone

from accounts.models import User
from core.database.fields import CleanedCharField, CleanedTextField
from workloads.models.choices import phases, reasons


class Event(models.Model):
    """``phase`` is set for a change of phase, ``verb`` for a person's request.

    Events without an ``actor`` come from the cluster or Trainyard itself, as ``source`` says. A
    repeated cluster event stays one row, identified by ``key``, whose ``count`` and ``at`` grow.
    """

    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="events"
    )
    at = models.DateTimeField(default=timezone.now)
    verb = models.CharField(max_length=20, blank=True)
    phase = models.CharField(max_length=20, choices=phases, blank=True)
    reason = models.CharField(max_length=30, choices=reasons, blank=True)
    message = CleanedTextField(blank=True)
    actor = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    source = CleanedCharField(max_length=40, default="trainyard")
    key = models.CharField(max_length=64, blank=True)
    count = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["workload", "-at"], name="event_of_workload")]
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "key"], condition=~models.Q(key=""), name="one_event_of_a_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.phase or self.verb} {self.reason}".strip()

    @property
    def actor_name(self) -> str:
        return self.actor.username if self.actor else self.source
