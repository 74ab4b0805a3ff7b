"""Samples over time: metrics that a training reports, and resource usage of ranks."""

from uuid import UUID

from django.db import models

from core.database.choices import Choices
from core.database.fields import CleanedJSONField


class SampleKind(models.TextChoices):
    TRAINING = "training", "Training metrics"
    USAGE = "usage", "Resource usage"


def sample_kinds() -> Choices:
    return SampleKind.choices


class Sample(models.Model):
    """``values`` maps names to numbers: ``loss`` or ``accuracy`` for training metrics, ``cpu``
    (cores) or ``memory`` (bytes) for usage. ``step`` is the training's own counter; usage has none.
    """

    id = models.BigAutoField(primary_key=True)
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="samples"
    )
    kind = models.CharField(max_length=10, choices=sample_kinds)
    run = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(default=0)
    rank = models.PositiveIntegerField()
    step = models.BigIntegerField(null=True, blank=True)
    at = models.DateTimeField()
    values = CleanedJSONField()

    class Meta:
        ordering = ["workload_id", "at", "id"]
        indexes = [models.Index(fields=["workload", "kind", "at"], name="sample_series")]

    def __str__(self) -> str:
        return f"{self.kind} of rank {self.rank} at {self.at:%H:%M:%S}"


def newest_usage(workload_id: UUID) -> Sample | None:
    """The newest usage sample of a workload."""
    samples = Sample.objects.filter(workload=workload_id, kind=SampleKind.USAGE)
    return samples.order_by("-at").first()
