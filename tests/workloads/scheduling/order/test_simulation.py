"""10,000 random workloads, started by what ``decide`` says."""

import pytest

from tests.workloads.scheduling.order.simulation import World
from workloads.scheduling.order import decide as order
from workloads.scheduling.order.decide import StartOrder
from workloads.scheduling.placement import place_shape

WORLDS = 100
AT_ONCE = 5
EACH = 100


@pytest.mark.parametrize(
    "first",
    [
        0,
        *(pytest.param(it, marks=pytest.mark.extended) for it in range(AT_ONCE, WORLDS, AT_ONCE)),
    ],
)
def test_random_workloads_share_a_machine_by_the_rules(first: int) -> None:
    """No GPU twice, no gang in part, an owner of a quota waits for over-quota work no longer than
    it may, and all of them end."""
    taken_back = owners = 0
    for seed in range(first, first + AT_ONCE):
        world = World(seed)
        world.play(EACH)
        assert sorted(world.done) == sorted(world.runs)
        assert len(world.done) == EACH
        assert not world.late, f"seed {seed}: {world.late}"
        taken_back += sum(run.taken_back for run in world.runs.values())
        owners += len(world.owners)
    assert taken_back, "somebody was taken back"
    assert owners, "an owner waited for that"


def test_the_simulation_sees_a_gpu_that_is_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(0)
    monkeypatch.setattr(
        order, "place_shape", lambda shape, room: place_shape(shape, world.capacity)
    )
    with pytest.raises(AssertionError, match="no GPU twice"):
        world.play(EACH)


def test_the_simulation_sees_owners_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartOrder, "_gangs_to_preempt", lambda *_: None)
    world = World(0)
    world.play(EACH)
    assert world.late, "nothing was taken back"
