"""The most common filters, one click away."""

from dataclasses import dataclass

from accounts.models import User
from spec.phases import NEEDS_ATTENTION, STARTED, WAITING, Phase
from workloads.table.filters import OR, Filter
from workloads.table.state import TableState

LABELS = {"Queued": WAITING, "Running": STARTED, "Needs attention": NEEDS_ATTENTION}


@dataclass(frozen=True)
class Preset:
    """A preset: its state, and whether the table is in that state now."""

    label: str
    state: TableState
    current: bool


def presets(state: TableState, user: User | None = None) -> list[Preset]:
    """Presets for all workloads, the user's own, some groups of phases, and deleted ones. Each
    keeps the search. Order and columns are kept too, except when changing to or from the deleted
    ones."""
    choices: dict[str, tuple[Filter, ...]] = {"All": ()}
    if user:
        choices["Mine"] = (Filter("creator", "is", user.username),)
    choices |= {
        label: (Filter("status", "is", OR.join(filter(phases.__contains__, Phase))),)
        for label, phases in LABELS.items()
    }
    there, deleted = state.others(deleted=False), state.others(deleted=True)
    return [
        *(
            Preset(label, there.with_(filters=filters), state == there and state.filters == filters)
            for label, filters in choices.items()
        ),
        Preset("Deleted", deleted.with_(filters=()), state.deleted and not state.filters),
    ]
