"""Move many workloads at once, because somebody asked for it."""

from collections.abc import Sequence

from accounts.models import User
from audit import services as audit
from audit.words import Verb
from spec.phases import Phase, Reason
from workloads.history import events
from workloads.models import Workload

#: The columns that a move looks at, or that say afterwards why there was none.
COLUMNS = ("phase", "reason", "message", "phase_updated_at", "run", "started_at", "deleted_at")


def move_all(
    workloads: Sequence[Workload], to: Phase, *, reason: Reason, by: User | None, verb: Verb
) -> list[Workload]:
    """Move those whose present phase allows it, each with its event and, if ``by`` somebody, its
    entry in the audit log. Returns them; the others know their present phase.

    Call it in a transaction, which holds the rows until it ends.
    """
    moved = [it for it in _present(workloads) if it.move(to, reason=reason)]
    if moved:
        events.phases(moved, actor=by, verb=verb)
        if by:
            audit.record_each(by, verb, moved)
    return moved


def _present(workloads: Sequence[Workload]) -> list[Workload]:
    """Lock and reload the rows. Those that no longer exist are left out."""
    rows = Workload.objects.filter(pk__in=[it.pk for it in workloads]).order_by("pk")
    present = {row.pop("pk"): row for row in rows.select_for_update().values("pk", *COLUMNS)}
    for workload in workloads:
        for name, value in present.get(workload.pk, {}).items():
            setattr(workload, name, value)
    return [it for it in workloads if it.pk in present]
