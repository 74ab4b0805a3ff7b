"""The filters that people want most, one click away."""

from dataclasses import dataclass

from accounts.models import User
from spec.phases import Phase
from workloads.table.filters import OR, Filter
from workloads.table.state import State

QUEUED = (Phase.CREATING, Phase.PENDING, Phase.RESUMING)
RUNNING = (Phase.INITIALIZING, Phase.RUNNING, Phase.DEGRADED)
ATTENTION = (Phase.FAILED, Phase.DEGRADED, Phase.UNKNOWN)
LABELS = {"Queued": QUEUED, "Running": RUNNING, "Needs attention": ATTENTION}


@dataclass(frozen=True)
class Preset:
    label: str
    state: State
    current: bool


def presets(state: State, user: User | None = None) -> list[Preset]:
    """All, mine, and by phase. Each keeps the search, the order and the columns."""
    choices: dict[str, tuple[Filter, ...]] = {"All": ()}
    if user:
        choices["Mine"] = (Filter("creator", "is", user.username),)
    choices |= {
        label: (Filter("status", "is", OR.join(phases)),) for label, phases in LABELS.items()
    }
    return [
        Preset(label, state.with_(filters=filters), state.filters == filters)
        for label, filters in choices.items()
    ]
