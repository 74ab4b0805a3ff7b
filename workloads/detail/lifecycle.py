"""The lifecycle bar shows how far the current run has come. Within a run it never goes back."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from spec.kind import WorkloadKind
from spec.phases import ENDED, Phase, Reason
from workloads.models import Event, Workload

STAGES = ("Submitted", "Admitted", "Initializing", "Running")
ADMITTED = STAGES.index("Admitted")
INITIALIZING = STAGES.index("Initializing")
END = len(STAGES)
# The last stage that a run in a phase has certainly reached. Other phases say nothing about it.
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
END_STATES = {Phase.COMPLETED: "good", Phase.FAILED: "bad", Phase.STOPPED: "stopped"}
STARTS = ("submit", "run")
MOST_EVENTS = 500


@dataclass(frozen=True)
class Stage:
    """A stage of the bar. ``state`` is done, current, ahead or skipped; for the end it is good, bad
    or stopped."""

    name: str
    state: str
    at: datetime | None


@dataclass(frozen=True)
class Moment:
    """A phase of the current run and when it began."""

    phase: Phase
    at: datetime


def read_moments(workload: Workload) -> list[Moment]:
    """Read the phases of the current run, oldest first."""
    events = workload.events.exclude(phase="", verb="").order_by("-at", "-id")[:MOST_EVENTS]
    return list(reversed(list(_current_run_moments(events))))


def _current_run_moments(events: Iterable[Event]) -> Iterable[Moment]:
    has_started = False
    for event in events:
        # A preemption begins a run without anybody's action. Nothing starts after an end but a run.
        if has_started and event.phase in ENDED:
            return
        if event.phase:
            yield Moment(Phase(event.phase), event.at)
            has_started = has_started or (event.phase in REACHED and event.phase not in ENDED)
        if event.verb in STARTS:
            return


def find_preemption(workload: Workload) -> Event | None:
    """Return the event with which the run before was preempted; ``None`` if it ended otherwise, or
    if there is no run now."""
    if workload.run == 1 or workload.phase in ENDED:
        return None
    end = workload.events.filter(phase__in=ENDED).order_by("-at", "-id").first()
    return end if end and end.reason == Reason.PREEMPTED else None


def build_stages(workload: Workload, run: Iterable[Moment]) -> list[Stage]:
    """Return the stages of the bar for the phases of a run, which may be in any order."""
    times = _stage_times(run)
    phase = Phase(workload.phase)
    furthest = max([*times, REACHED.get(phase, 0)])
    has_ended = phase in ENDED
    stages = [
        _stage(name, _stage_state(number, furthest, times, has_ended=has_ended), times.get(number))
        for number, name in enumerate(STAGES)
    ]
    if has_ended:
        end = Stage(str(phase), END_STATES[phase], times.get(END))
    else:
        end = Stage(str(_expected_end(workload)), "ahead", None)
    return [*stages, end]


def _stage(name: str, state: str, at: datetime | None) -> Stage:
    """Return a stage. One that is ahead has no time, whatever was written about an earlier run."""
    return Stage(name, state, None if state == "ahead" else at)


def _stage_times(run: Iterable[Moment]) -> dict[int, datetime]:
    """Return when each stage was reached first. The start of Initializing is also when the run was
    admitted, as no phase of its own marks that."""
    times: dict[int, datetime] = {}
    for moment in sorted(run, key=lambda moment: moment.at):
        stage = REACHED.get(moment.phase)
        if stage is None:
            continue
        times.setdefault(stage, moment.at)
        if stage == INITIALIZING:
            times.setdefault(ADMITTED, moment.at)
    return times


def _expected_end(workload: Workload) -> Phase:
    """Return the phase that ends the workload if all goes well. A workload of a kind that never
    completes is stopped in the end."""
    return Phase.COMPLETED if WorkloadKind(workload.kind).traits.completes else Phase.STOPPED


def _stage_state(number: int, furthest: int, times: dict[int, datetime], *, has_ended: bool) -> str:
    last_observed = max((stage for stage in times if stage < END), default=0)
    if number > furthest:
        return "ahead"
    if furthest == END and number > last_observed:
        # The run ended before its start was observed, but it did start.
        return "skipped"
    return "current" if number == furthest and not has_ended else "done"
