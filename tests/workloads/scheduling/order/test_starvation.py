"""Nobody waits for ever: a gang of many GPUs, while smaller ones never cease to come.

They ask for more than the machine has, so there is a queue all the time.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import pytest

from projects.quotas import Demand, Quota
from tests.workloads.scheduling.order.simulation import (
    GRACE,
    LOOK,
    Run,
    World,
    deserved_gpus,
    is_strict,
)
from workloads.scheduling.order.backfill import Reservation
from workloads.scheduling.order.ledger import Ledger
from workloads.scheduling.order.records import Allowance, Contender
from workloads.scheduling.placement import Shape

EARLIER = 12
SINCE = 30.0
LONGEST = 120.0
TURN = LONGEST + max(GRACE) + LOOK  # until all have ended that run when a gang is next
WIDE = "wide"


def gang(world: World, key: str, gpus: int, project: str, since: float) -> Contender:
    """It may be non-preemptible where the quota is as large."""
    firm = gpus <= deserved_gpus(world.allowances[project]) and world.random.random() < 0.3
    shape = Shape(0.1, 1, ((0, gpus, 1.0),))
    demand = Demand(float(gpus), 0.1, 1)
    grace = world.random.choice(GRACE)
    return Contender(key, key, project, "d", shape, demand, since, 0, not firm, grace)


def crowd(world: World, wide: Contender) -> Iterator[Run]:
    """Some that are there before it, and those that come after it, without an end."""
    draw = world.random
    at = 0.0
    for number in count():
        if number == EARLIER:
            at = wide.since
            yield Run(wide, 20.0)
        gpus = draw.choice([1, 1, 1, 2])
        left = draw.uniform(LONGEST / 6, LONGEST)
        small = gang(world, f"w{number}", gpus, f"p{draw.randrange(world.projects)}", at)
        limit = left * draw.choice([1.0, 1.5]) if draw.random() < 0.4 else None
        own = world.allowances[small.project]
        if not is_strict(own) or small.demand.gpus <= deserved_gpus(own):
            yield Run(replace(small, time_limit=limit), left)
        at += draw.expovariate(1 / 5.0) if number >= EARLIER else 0.5


def starts_in_time(world: World, wide: Contender) -> bool:
    """Whether it waits for no more than what is ahead of it when it comes: what runs, what waits
    longer, and what must end before its own quota has room."""
    ahead = 0
    for _ in world.rounds(crowd(world, wide)):
        if WIDE in world.running:
            break
        if WIDE in world.queue:
            older = [it for it in world.queue.values() if it.gang.sort_key < wide.sort_key]
            ahead = max(ahead, len(older))
            if world.now > wide.since + (ahead + 2) * TURN:
                return False
    return not world.late


def entitled(seed: int) -> tuple[World, Contender]:
    """It asks for the whole quota of its project."""
    world = World(seed)
    quotas = {key: deserved_gpus(it) for key, it in world.allowances.items() if key != "d"}
    project = world.random.choice([key for key, quota in quotas.items() if quota >= 2])
    return world, gang(world, WIDE, int(quotas[project]), project, SINCE)


def unentitled(seed: int) -> tuple[World, Contender]:
    """Nobody has a quota, and it asks for the whole machine."""
    world = World(seed)
    world.allowances = {
        f"p{number}": Allowance(f"p{number}", Quota(0, None, None))
        for number in range(world.projects)
    }
    return world, gang(world, WIDE, world.gpus, "p0", SINCE)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("given", [entitled, unentitled])
def test_a_gang_of_many_gpus_starts_when_its_turn_comes(
    given: Callable[[int], tuple[World, Contender]], seed: int
) -> None:
    assert starts_in_time(*given(seed))


def test_a_gang_of_many_gpus_starves_where_no_quota_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Ledger, "quota_to_reserve", lambda ledger, gang: "")
    assert not starts_in_time(*entitled(5))


def test_a_gang_of_many_gpus_starves_where_all_others_may_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Reservation, "reason_to_pass", lambda *_: "It may.")
    assert not starts_in_time(*unentitled(0))
