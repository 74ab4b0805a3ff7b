"""The lifecycle bar: how far the current run has come. Within a run it never goes back."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from spec.kind import WorkloadKind
from spec.phases import ENDED, Phase
from workloads.models import Event, Workload

STAGES = ("Submitted", "Admitted", "Initializing", "Running")
END = len(STAGES)
# The last stage that was certainly reached in a phase. Other phases tell nothing about it.
REACHED: dict[Phase, int] = {
    Phase.CREATING: 0,
    Phase.RESUMING: 0,
    Phase.PENDING: 0,
    Phase.INITIALIZING: 2,
    Phase.RUNNING: 3,
    Phase.DEGRADED: 3,
    Phase.STOPPED: END,
    Phase.COMPLETED: END,
    Phase.FAILED: END,
}
STARTS = ("submit", "run")
MOST_EVENTS = 500


@dataclass(frozen=True)
class Stage:
    """A stage of the bar. ``state`` is done, current, ahead or skipped, or for the end good, bad or
    stopped."""

    name: str
    state: str
    at: datetime | None


@dataclass(frozen=True)
class Moment:
    """A phase of the current run and when it began."""

    phase: Phase
    at: datetime


def moments(workload: Workload) -> list[Moment]:
    """The phases of the current run, oldest first."""
    events = workload.events.exclude(phase="", verb="").order_by("-at", "-id")[:MOST_EVENTS]
    return list(reversed(list(_of_this_run(events))))


def _of_this_run(events: Iterable[Event]) -> Iterable[Moment]:
    for event in events:
        if event.phase:
            yield Moment(Phase(event.phase), event.at)
        if event.verb in STARTS:
            return


def bar(workload: Workload, run: Iterable[Moment]) -> list[Stage]:
    """The stages of the bar for the phases of a run, which may be in any order."""
    times: dict[int, datetime] = {}
    for moment in sorted(run, key=lambda moment: moment.at):
        if (stage := REACHED.get(moment.phase)) is not None:
            times.setdefault(stage, moment.at)
            if stage == 2:
                times.setdefault(1, moment.at)
    phase = Phase(workload.phase)
    furthest = max([*times, REACHED.get(phase, 0)])
    ended = phase in ENDED
    stages = [
        Stage(name, _state(number, furthest, times, ended=ended), times.get(number))
        for number, name in enumerate(STAGES)
    ]
    last = {Phase.COMPLETED: "good", Phase.FAILED: "bad", Phase.STOPPED: "stopped"}
    name = str(phase if ended else _end_of(workload))
    return [*stages, Stage(name, last[phase] if ended else "ahead", times.get(END))]


def _end_of(workload: Workload) -> Phase:
    """The phase that ends the workload if all goes well. A kind that never completes will be
    stopped some day."""
    return Phase.COMPLETED if WorkloadKind(workload.kind).traits.completes else Phase.STOPPED


def _state(number: int, furthest: int, times: dict[int, datetime], *, ended: bool) -> str:
    reached = max((stage for stage in times if stage < END), default=0)
    if number > furthest:
        return "ahead"
    if furthest == END and number > reached:
        # It ended before its start was observed, but it did run.
        return "skipped"
    return "current" if number == furthest and not ended else "done"
