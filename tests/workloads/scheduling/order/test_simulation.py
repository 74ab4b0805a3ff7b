"""10,000 random workloads, started by what ``decide`` says."""

import pytest

from tests.workloads.scheduling.order.simulation import World

WORLDS, EACH = 100, 100


@pytest.mark.parametrize("first", range(0, WORLDS, 20))
def test_random_workloads_share_a_machine_by_the_rules(first: int) -> None:
    """No GPU twice, no gang in part, an owner of a quota waits for over-quota work no longer than
    it may, and all of them end."""
    taken_back = 0
    for seed in range(first, first + 20):
        world = World(seed)
        world.play(EACH)
        assert sorted(world.done) == sorted(world.runs)
        assert len(world.done) == EACH
        assert not world.late, f"seed {seed}: {world.late}"
        taken_back += sum(run.taken_back for run in world.runs.values())
    assert taken_back, "somebody was taken back"
