import sys
from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage

import pytest

from core.frames import STACK_SLOTS, keeps_chunks, with_room

DEPTHS = 400  # more calls than fit into a chunk
CALLS = 1_000


def _leaf() -> None: ...


def _loop() -> int:
    """How often memory was asked for in a thousand calls of a function."""
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        _leaf()
    return getrusage(RUSAGE_SELF).ru_minflt - before


def _below(depth: int, call: Callable[[], int]) -> int:
    return call() if depth == 0 else _below(depth - 1, call)


@pytest.mark.parametrize(
    ("version", "is_fixed"),
    [
        ((3, 11, 99), False),
        ((3, 12, 99), False),
        ((3, 13, 12), False),
        ((3, 13, 13), True),
        ((3, 14, 3), False),
        ((3, 14, 4), True),
        ((3, 15, 0), True),
    ],
)
def test_a_version_of_python_has_the_fix(version: tuple[int, int, int], is_fixed: bool) -> None:
    assert keeps_chunks(version) is is_fixed


@pytest.mark.skipif(keeps_chunks(sys.version_info[:3]), reason="this Python has the fix")
def test_a_call_with_room_claims_a_chunk_of_its_own() -> None:
    assert with_room.__code__.co_stacksize == STACK_SLOTS


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults as Linux does")
def test_no_depth_of_calls_allocates_memory_at_each_call() -> None:
    asked = [with_room(_below, depth, _loop) for depth in range(DEPTHS)]
    assert max(asked) < CALLS / 10


def test_a_call_with_room_passes_arguments_and_results() -> None:
    assert with_room(sorted, [3, 1, 2], reverse=True) == [3, 2, 1]
