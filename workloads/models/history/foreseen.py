"""The verdict a workload got at submission, and how long it really waited."""

from typing import Any

from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from spec.phases import STARTED, Phase
from workloads.models.choices import cause_kinds
from workloads.models.rank import Rank


class Foreseen(models.Model):
    """``verdict`` is an ``Answer`` of ``workloads.scheduling.fit``; it is empty if nobody asked.
    ``verdict_cause`` is the kind of cause it was expected to wait for. ``first_wait_seconds`` is
    how long it waited until its first run started, with a place for every rank."""

    verdict = models.CharField(max_length=10, blank=True)
    verdict_cause = models.CharField(max_length=20, choices=cause_kinds, blank=True)
    first_wait_seconds = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True


def first_wait(
    to: Phase, run: int, waited: Combinable, ranks: models.QuerySet[Rank]
) -> dict[str, Any]:
    """The update of ``first_wait_seconds``, if this move is the first start; else nothing.

    A gang whose master is done may complete although other ranks never had a place: that is no
    start.
    """
    is_start = to in STARTED or (to is Phase.COMPLETED and not _lacked_a_place(ranks))
    if run > 1 or not is_start:
        return {}
    return {"first_wait_seconds": Coalesce("first_wait_seconds", waited)}


def _lacked_a_place(ranks: models.QuerySet[Rank]) -> bool:
    """Whether some ranks had a node and some had not. If no rank has one, it was too short to be
    observed."""
    nodes = set(ranks.values_list("node", flat=True))
    return "" in nodes and len(nodes) > 1
