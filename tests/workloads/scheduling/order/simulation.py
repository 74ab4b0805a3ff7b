"""A machine in memory. Gangs arrive, run and end on it, and only ``decide`` starts them."""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from projects.quotas import UNLIMITED, Demand, Quota
from workloads.scheduling.order.decide import decide
from workloads.scheduling.order.ledger import Ledger
from workloads.scheduling.order.records import Allowance, Contender, Decision, DecisionKind, Tenant
from workloads.scheduling.placement import TINY, Room, Shape, place_shape

GRACE = (0.0, 10.0, 30.0)
LOOK = 5.0  # seconds between two decisions if nothing happens


@dataclass
class Run:
    """A gang, with the seconds that it has yet to run, which only the simulation knows."""

    gang: Contender
    left: float
    taken_back: int = 0


def build_allowance(owner: str, gpus: float, *, strict: bool = False) -> Allowance:
    quota = Quota(gpus, None, None)
    return Allowance(owner, quota, quota if strict else UNLIMITED)


def deserved_gpus(allowance: Allowance) -> float:
    assert allowance.quota.gpus is not None
    return allowance.quota.gpus


def is_strict(allowance: Allowance) -> bool:
    return allowance.limit == allowance.quota


@dataclass
class World:
    """``gpus`` devices, and projects ``p0`` … whose quotas together do not exceed them."""

    seed: int
    gpus: int = 8
    now: float = 0.0
    queue: dict[str, Run] = field(default_factory=dict)
    running: dict[str, Tenant] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    owed: dict[str, float] = field(default_factory=dict)  # claims, and when each is due
    first: dict[str, float] = field(default_factory=dict)  # the first claim, by plain sums
    owners: set[str] = field(default_factory=set)  # claims that waited for over-quota work
    done: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311 -- the same seed repeats it
        self.capacity = Room(64.0, 256, dict.fromkeys(range(self.gpus), 1.0))
        quotas = self.random.choice([(4, 4), (2, 3, 3), (8, 0), (1, 2, 0, 5)])
        shared = self.random.random() < 0.3
        self.allowances = {
            f"p{number}": build_allowance(f"p{number}", quota, strict=self.random.random() < 0.2)
            for number, quota in enumerate(quotas)
        }
        if shared:
            self.allowances["d"] = build_allowance("d", sum(quotas), strict=True)
        self.projects = len(quotas)
        self.rank = self.random.choice([0, 0, 1])

    def gang(self, number: int, at: float) -> Run:
        draw = self.random
        project = f"p{draw.randrange(self.projects)}"
        workers = draw.choice([1, 1, 1, 2, 3])
        count, portion = draw.choice([(0, 1.0), (1, 1.0), (1, 1.0), (1, 0.5), (2, 1.0)])
        cpu = draw.choice([0.1, 1.0, 4.0]) * workers
        ranks = tuple((rank, count, portion) for rank in range(workers))
        quota = self.allowances[project]
        gpus = workers * count * portion
        if is_strict(quota) and gpus > deserved_gpus(quota):  # submission would refuse it
            ranks = ()
            gpus = 0.0
        fits = gpus <= deserved_gpus(quota)
        left = draw.choice([5.0, 20.0, 60.0, 300.0])
        gang = Contender(
            key=f"w{number}",
            name=f"w{number}",
            project=project,
            department="d",
            shape=Shape(cpu, workers, ranks),
            demand=Demand(gpus, cpu, workers),
            since=at,
            rank=self.rank if project == "p0" else 0,
            preemptible=not fits or draw.random() < 0.7,
            grace=draw.choice(GRACE),
            time_limit=left * draw.choice([1.0, 1.5]) if draw.random() < 0.4 else None,
        )
        return Run(gang, left)

    def play(self, workloads: int) -> None:
        """Play workloads to their end. ``AssertionError`` says what must not be."""
        at = 0.0
        coming = []
        for number in range(workloads):
            at += self.random.expovariate(1 / 12.0)
            coming.append(self.gang(number, at))
        deadline = at + 400.0 * workloads
        for _ in self.rounds(iter(coming)):
            assert self.now < deadline, f"seed {self.seed}: {sorted(self.queue)} never started"

    def rounds(self, coming: Iterator[Run]) -> Iterator[None]:
        """Let time pass, from one moment when something happens to the next."""
        following = next(coming, None)
        while following or self.queue or self.running:
            arrival = [following.gang.since] if following else []
            self.now = max(self.now, min([*self.ends.values(), self.now + LOOK, *arrival]))
            while following and following.gang.since <= self.now:
                self.runs[following.gang.key] = self.queue[following.gang.key] = following
                following = next(coming, None)
            self._end()
            self._look()
            yield

    def _end(self) -> None:
        for key in [key for key, at in self.ends.items() if at <= self.now]:
            tenant = self.running.pop(key)
            run = self.runs[key]
            del self.ends[key]
            if tenant.ending and run.left > 0:
                self.queue[key] = run
            else:
                self.done.append(key)

    def _look(self) -> None:
        queue = [run.gang for run in self.queue.values()]
        decisions = decide(
            queue, list(self.running.values()), self.capacity, self.allowances, now=self.now
        )
        assert sorted(d.gang.key for d in decisions if d.kind is not DecisionKind.PREEMPT) == (
            sorted(self.queue)
        ), "one decision for each in the queue"
        self._check_owners(queue, decisions)
        self._check_first(decisions)
        for decision in decisions:
            if decision.kind is DecisionKind.START:
                self._start(decision)
            elif decision.kind is DecisionKind.PREEMPT:
                self._take_back(decision)
        if any(it.kind is not DecisionKind.WAIT for it in decisions):
            self._check_room()

    def _start(self, decision: Decision) -> None:
        key = decision.gang.key
        run = self.queue.pop(key)
        self.running[key] = Tenant(decision.gang, decision.placement, self.now)
        self.ends[key] = self.now + run.left

    def _take_back(self, decision: Decision) -> None:
        key = decision.gang.key
        tenant = self.running[key]
        run = self.runs[key]
        assert tenant.gang.preemptible
        assert not tenant.ending
        assert tenant.gang.project != decision.other.project or not decision.other.preemptible  # type: ignore[union-attr]
        run.left = self.ends[key] - self.now
        run.taken_back = run.taken_back + 1
        self.running[key] = replace(tenant, leaves_by=self.now + tenant.gang.grace)
        self.ends[key] = min(self.ends[key], self.now + tenant.gang.grace)
        if self.ends[key] < self.now + tenant.gang.grace:
            run.left = 0.0

    def _check_room(self) -> None:
        free = self.capacity.copy()
        held = defaultdict[int, float](float)
        for tenant in self.running.values():
            ranks = {rank for rank, _, _ in tenant.gang.shape.ranks}
            assert set(tenant.placement) == ranks, "a gang starts whole"
            for rank, count, portion in tenant.gang.shape.ranks:
                assert len(set(tenant.placement[rank])) == count
                for device in tenant.placement[rank]:
                    held[device] += portion
            tenant.gang.shape.occupy(free, tenant.placement)
        assert max(held.values(), default=0.0) < 1 + TINY, "no GPU twice"
        assert min(free.cpu, free.memory) > -TINY, "no core or byte twice"
        firm = Ledger([t for t in self.running.values() if not t.gang.preemptible], self.allowances)
        assert not firm.over_quota, "non-preemptible work is never over quota"

    def _check_owners(self, queue: list[Contender], decisions: list[Decision]) -> None:
        """A claim that would be next if nothing ran over quota starts within the grace period of
        what does, and 5 s. What runs within quota by then came before it."""
        ledger = Ledger(list(self.running.values()), self.allowances, self.now)
        claims = []
        for gang in sorted(queue, key=lambda it: it.sort_key):
            if ledger.is_in_quota(gang):
                claims.append(gang)
            elif key := ledger.quota_to_reserve(gang):
                ledger.reserve_turn(gang, key)
        rightful = [
            tenant
            for key, tenant in self.running.items()
            if key not in ledger.over_quota and not tenant.ending
        ]
        if not claims or len(rightful) == len(self.running):
            self.owed.clear()
            return
        without = decide(queue, rightful, self.capacity, self.allowances, now=self.now)
        owed = {d.gang.key for d in without if d.kind is DecisionKind.START and d.other is None}
        owed &= {gang.key for gang in claims if self.allowances[gang.project].promises(gang.demand)}
        owed -= {d.gang.key for d in decisions if d.kind is DecisionKind.START}
        ahead = [d.gang for d in decisions if d.kind is DecisionKind.START and d.gang in claims]
        due = self.now + self._grace(without=rightful) + LOOK
        self.owed = {
            key: self.owed.get(key, due)
            for key in owed
            if not any(gang.sort_key < self.runs[key].gang.sort_key for gang in ahead)
        }
        self.owners |= set(self.owed)
        self.late += [key for key, due in self.owed.items() if self.now > due]

    def _grace(self, *, without: list[Tenant]) -> float:
        """Return the longest time that any other workload may take to end, once it is told to."""
        others = [it for it in self.running.values() if it not in without]
        waits = (
            it.gang.grace if it.leaves_by is None else it.leaves_by - self.now for it in others
        )
        return max(waits, default=0.0)

    def _check_first(self, decisions: list[Decision]) -> None:
        """Check the same for the first claim, by sums that share no code with the order."""
        within = []
        sums = defaultdict[str, float](float)
        staying = [it for it in self.running.values() if not it.ending]
        for tenant in sorted(staying, key=lambda it: (it.gang.preemptible, it.started)):
            project = tenant.gang.project
            gpus = tenant.gang.demand.gpus
            if sums[project] + gpus < deserved_gpus(self.allowances[project]) + TINY:
                sums[project] += gpus
                within.append(tenant)
        room = self.capacity.copy()
        for tenant in within:
            tenant.gang.shape.occupy(room, tenant.placement)
        starts = [it.gang for it in decisions if it.kind is DecisionKind.START]
        claim = self._first_claim()
        before = self.first
        self.first = {}
        if (
            not claim
            or not claim.demand.gpus
            or claim in starts
            or not place_shape(claim.shape, room)
        ):
            return
        if not any(it.sort_key < claim.sort_key and self._is_within(it) for it in starts):
            due = before.get(claim.key, self.now + self._grace(without=within) + LOOK)
            self.first = {claim.key: due}
            self.late += [claim.key] if self.now > due else []

    def _first_claim(self) -> Contender | None:
        """Return the first gang within its quota, unless one of its project waits longer."""
        behind = set()
        for gang in sorted((run.gang for run in self.queue.values()), key=lambda it: it.sort_key):
            if self._is_within(gang):
                return gang if gang.project not in behind else None
            if gang.demand.gpus < deserved_gpus(self.allowances[gang.project]) + TINY:
                behind.add(gang.project)
        return None

    def _is_within(self, gang: Contender) -> bool:
        """Whether a gang is within its quota. Strict ones also count what is being preempted."""
        allowance = self.allowances[gang.project]
        own = [it for it in self.running.values() if it.gang.project == gang.project]
        if not is_strict(allowance):
            own = [it for it in own if not it.ending]
            own = [it for it in own if gang.preemptible or not it.gang.preemptible]
        held = sum(it.gang.demand.gpus for it in own)
        return held + gang.demand.gpus < deserved_gpus(allowance) + TINY
