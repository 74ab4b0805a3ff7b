"""One start of a gang, and how far its output has been collected and parsed."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from workloads.models.workload import Workload


class Attempt(models.Model):
    """One start of a gang.

    ``parsed`` maps a rank to how many bytes of its output were searched for metrics. It is updated
    in the transaction that stores the samples, so that each sample is stored exactly once.
    ``resumed_step`` is the step of the checkpoint from which the training says that it resumed.
    ``complete``: all output of this attempt is in our store.
    """

    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="attempts"
    )
    run = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    parsed = models.JSONField(default=dict, blank=True)
    resumed_step = models.BigIntegerField(null=True, blank=True)
    complete = models.BooleanField(default=False)

    class Meta:
        ordering = ["workload_id", "run", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "run", "attempt"], name="one_row_an_attempt"
            )
        ]

    def __str__(self) -> str:
        return f"run {self.run}, attempt {self.attempt + 1}"

    @staticmethod
    def create_missing(workload: "Workload") -> None:
        """Create the missing rows up to the workload's current attempt."""
        present = set(
            Attempt.objects.filter(workload=workload, run=workload.run).values_list(
                "attempt", flat=True
            )
        )
        missing = [n for n in range(workload.attempt + 1) if n not in present]
        if missing:
            # Another process may have created some of them meanwhile.
            Attempt.objects.bulk_create(
                (Attempt(workload=workload, run=workload.run, attempt=n) for n in missing),
                ignore_conflicts=True,
            )
