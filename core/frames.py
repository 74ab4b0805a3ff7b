"""Reserve stack space for deep calls, to work around a performance problem of CPython.

CPython keeps a thread's frames in chunks of 16 KB. Before 3.13.13 and 3.14.4 it returns a chunk to
the system as soon as the only call in it returns. A loop that happens to run at the end of a chunk
then allocates memory at each of its calls: rendering the rows of a table, some eighty calls deep,
took 46 ms instead of 10. Any change in how deep a view is called moves such a boundary to other
code.

A chunk is as large as its first frame needs. So a frame that claims a large one has all the calls
below it in its own chunk. See https://github.com/python/cpython/issues/142183.

Delete this module when Trainyard requires Python 3.13.13 or newer.
"""

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Params = ParamSpec("Params")
Returned = TypeVar("Returned")

STACK_SLOTS = 16_000  # of 8 bytes: a chunk of 256 KB, half of it for the calls below


def keeps_chunks(version: tuple[int, int, int]) -> bool:
    """Whether this version of CPython has the fix: it keeps a chunk for the next call."""
    fixed_in = {(3, 13): (3, 13, 13), (3, 14): (3, 14, 4)}
    return version >= fixed_in.get(version[:2], (3, 15, 0))


def with_room(
    call: Callable[Params, Returned], *args: Params.args, **kwargs: Params.kwargs
) -> Returned:
    """Call ``call`` from a frame with a large chunk. Memory that is reserved and never touched
    costs nothing."""
    return call(*args, **kwargs)


if not keeps_chunks(sys.version_info[:3]):
    with_room.__code__ = with_room.__code__.replace(co_stacksize=STACK_SLOTS)
