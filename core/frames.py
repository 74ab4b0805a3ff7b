"""Reserve stack space for deep calls, to work around a performance problem of CPython.

CPython keeps a thread's frames in chunks of 16 KB. Versions 3.11 and 3.12, and 3.13 and 3.14 until
their releases of spring 2026, return a chunk to the system as soon as the only call in it returns.
A loop that happens to run at the end of a chunk then allocates memory at each of its calls:
rendering the rows of a table, some eighty calls deep, took 46 ms instead of 10. Any change in how
deep a view is called moves such a boundary to other code.

A chunk is as large as its first frame needs. So a frame that claims a large one has all the calls
below it in its own chunk. See https://github.com/python/cpython/issues/142183.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

CLAIMED = 16_000  # stack slots of 8 bytes: a chunk of 256 KB, half of it for the calls below


def with_room(
    call: Callable[Given, Returned], *args: Given.args, **kwargs: Given.kwargs
) -> Returned:
    """Call ``call`` from a frame with a large chunk. Memory that is claimed but not touched is
    free."""
    return call(*args, **kwargs)


with_room.__code__ = with_room.__code__.replace(co_stacksize=CLAIMED)
