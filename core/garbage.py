"""How often a long-lived process looks for garbage that reference counts do not free."""

import gc

#: Objects made, less those freed, before the youngest are looked through, and how many such looks
#: make one of the older generation. Lists of clusters come as hundreds of thousands of small
#: objects without a cycle, which CPython's own 700 has looked through over and over.
YOUNG, MIDDLE, OLD = 50_000, 20, 10


def settle() -> None:
    """Call it once, when everything is imported: that stays, and is never looked through again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
