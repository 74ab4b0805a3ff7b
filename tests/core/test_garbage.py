"""Rare looks for garbage, in processes that live long."""

import gc
from collections.abc import Iterator

import pytest

from core import garbage


@pytest.fixture
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.usefixtures("collector")
def test_garbage_collection_never_looks_again_through_objects_of_the_start() -> None:
    garbage.tune_collector()
    assert gc.get_freeze_count() > 10_000
    looks = gc.get_stats()[0]["collections"]
    kept = [[number] for number in range(garbage.YOUNG // 2)]
    assert gc.get_stats()[0]["collections"] - looks <= 1, "for half of what one look is for"
    assert len(kept) == garbage.YOUNG // 2


@pytest.mark.usefixtures("collector")
def test_garbage_in_cycles_is_found_all_the_same() -> None:
    garbage.tune_collector()
    looks = gc.get_stats()[0]["collections"]
    for _ in range(garbage.YOUNG * 2):
        cycle: list[object] = []
        cycle.append(cycle)
    assert gc.get_stats()[0]["collections"] > looks
    assert gc.get_count()[0] <= garbage.YOUNG
