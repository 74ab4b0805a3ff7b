"""One rank of the gang, as last observed."""

from typing import TYPE_CHECKING, Self

from django.db import models

from core.database.fields import CleanedCharField, CleanedTextField
from engines.base import RankState
from spec.phases import RankPhase
from spec.workload import LONGEST_ROLE_NAME
from workloads.models.choices import rank_phases, reasons

if TYPE_CHECKING:
    from workloads.models.workload import Workload


class Rank(models.Model):
    """``gpu_devices`` are the indexes of the devices that admission assigned; ``exit_code`` is -N
    after signal N."""

    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="ranks"
    )
    rank = models.PositiveIntegerField()
    role = models.CharField(max_length=LONGEST_ROLE_NAME)
    index = models.PositiveIntegerField()
    node = CleanedCharField(max_length=253, blank=True)
    phase = models.CharField(max_length=20, choices=rank_phases, default=RankPhase.PENDING)
    reason = models.CharField(max_length=30, choices=reasons, blank=True)
    message = CleanedTextField(blank=True)
    restarts = models.PositiveIntegerField(default=0)
    exit_code = models.IntegerField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    gpu_devices = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["workload_id", "rank"]
        constraints = [models.UniqueConstraint(fields=["workload", "rank"], name="one_row_a_rank")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of_state(cls, workload: "Workload", state: RankState) -> Self:
        """Return a new row for a rank that the cluster has."""
        return cls(workload=workload, rank=state.rank, role=state.role, index=state.index)

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"
