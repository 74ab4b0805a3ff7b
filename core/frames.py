"""Room for deep calls on the stack of a thread.

CPython keeps a thread's frames in chunks of 16 KB. 3.11 and 3.12, and 3.13 and 3.14 until their
releases of spring 2026, give a chunk back to the system as soon as the only call in it returns. A
loop that happens to run at the end of a chunk asks the system for memory at each of its calls:
drawing the rows of a table, some eighty calls deep, took 46 ms in place of 10. Any change of how
deep a view is called moves such a place to other code. A chunk is as large as its first frame
needs, so a frame that claims much has all calls below it in its own.
See https://github.com/python/cpython/issues/142183.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

CLAIMED = 16_000  # places of 8 bytes: a chunk of 256 KB, half of it for what is called


def with_room(
    call: Callable[Given, Returned], *args: Given.args, **kwargs: Given.kwargs
) -> Returned:
    """What the call returns. Memory that is claimed and not touched costs nothing."""
    return call(*args, **kwargs)


with_room.__code__ = with_room.__code__.replace(co_stacksize=CLAIMED)
