"""The input and output of decisions, as plain values.

Times and durations are in seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.words import name_first_three
from projects.quotas import SLACK, UNLIMITED, Demand, Quota, StrictQuota
from spec.phases import Reason
from workloads.scheduling.placement import Placement, Shape


@dataclass(frozen=True)
class Allowance:
    """The quota of a project or department, and the ``limit`` that it never exceeds.

    ``owner`` is its name in words.
    """

    owner: str
    quota: Quota
    limit: Quota = UNLIMITED

    def exceeded_by(self, held: Demand, demand: Demand) -> bool:
        """Whether ``demand`` in addition to ``held`` exceeds the quota, in what is requested."""
        return _is_exceeded(self.quota, held, demand)

    def limit_exceeded_by(self, held: Demand, demand: Demand) -> bool:
        """Whether ``demand`` in addition to ``held`` exceeds the limit, in what is requested."""
        return _is_exceeded(self.limit, held, demand)

    def excess(self, held: Demand, demand: Demand) -> str:
        """How the limit is exceeded, in words."""
        noun = "quota" if self.limit == self.quota else "limit"
        return StrictQuota("", self.owner, self.limit, held, noun).excess(demand)

    def promises(self, demand: Demand) -> bool:
        """Whether it limits anything that is requested. An unlimited amount is promised to nobody,
        so nobody is preempted for it."""
        cpu = demand.cpu and self.quota.cpu is not None
        memory = demand.memory and self.quota.memory is not None
        return bool(demand.gpus or cpu or memory)


def _is_exceeded(quota: Quota, held: Demand, demand: Demand) -> bool:
    pairs = (
        (demand.gpus, held.gpus, quota.gpus),
        (demand.cpu, held.cpu, quota.cpu),
        (demand.memory, held.memory, quota.memory),
    )
    return any(
        asked and most is not None and used + asked > most + SLACK for asked, used, most in pairs
    )


@dataclass(frozen=True)
class Contender:
    """A gang that wants to run, or runs. ``project`` and ``department`` are keys of allowances.

    ``rank`` is its project's: the higher goes first. ``since`` is when it was queued.
    """

    key: str
    name: str
    project: str
    department: str
    shape: Shape
    demand: Demand
    since: float
    rank: int = 0
    preemptible: bool = True
    grace: float = 0.0
    time_limit: float | None = None
    ends: bool = True  # a workspace without a limit never does

    def name_for(self, reader: "Contender") -> str:
        """Its name for people who may see ``reader``, and perhaps no other project."""
        return self.name if self.project == reader.project else "a workload of another project"

    @property
    def owners(self) -> tuple[str, str]:
        return self.project, self.department

    def outlives(self, moment: float | None, now: float) -> bool:
        """Whether it may still run then, if it starts now. Nobody knows of ``None``."""
        if moment is None or self.time_limit is None:
            return True
        return now + self.time_limit + self.grace > moment

    @property
    def sort_key(self) -> tuple[int, float, str]:
        """Sort key: rank of the project, then age."""
        return -self.rank, self.since, self.key


def names_for(others: Sequence[Contender], reader: Contender) -> str:
    """The names of several gangs."""
    own = name_first_three([it.name for it in others if it.project == reader.project])
    strangers = sum(it.project != reader.project for it in others)
    rest = f"{strangers} workloads of other projects" if strangers > 1 else ""
    if strangers == 1:
        rest = "a workload of another project"
    return " and ".join(filter(None, [own, rest]))


@dataclass(frozen=True)
class Tenant:
    """A gang in place. ``leaves_by``: it was asked to end, and will have ended by then."""

    gang: Contender
    placement: Placement
    started: float
    leaves_by: float | None = None

    @property
    def ending(self) -> bool:
        return self.leaves_by is not None

    @property
    def until(self) -> float | None:
        """When it will have ended at the latest, if it has a time limit."""
        limit = self.gang.time_limit
        return None if limit is None else self.started + limit + self.gang.grace


class DecisionKind(StrEnum):
    START = "started"
    WAIT = "waits"
    PREEMPT = "taken back"


@dataclass(frozen=True)
class Decision:
    """The decision about a gang, with the reason in words."""

    gang: Contender
    kind: DecisionKind
    why: str
    reason: Reason = Reason.NONE
    placement: Placement = field(default_factory=dict)
    #: The gang it is preempted for, waits behind, or goes before.
    other: Contender | None = None
