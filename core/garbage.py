"""Tune Python's cyclic garbage collector for long-lived processes."""

import gc

#: Thresholds of the generations: net new objects before the young generation is collected, and how
#: many collections of one generation trigger the next. Cluster lists arrive as hundreds of
#: thousands of small objects without cycles, which CPython's default of 700 would scan over and
#: over.
YOUNG = 50_000
MIDDLE = 20
OLD = 10


def tune_collector() -> None:
    """Apply the thresholds. Call it once after all imports: what exists then is never scanned
    again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
