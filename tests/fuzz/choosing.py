"""The seed and the budget of a fuzz."""

import os
import secrets
import time
from collections.abc import Iterator

SECONDS = float(os.environ.get("FUZZ_SECONDS", "6"))


def seed() -> int:
    return int(os.environ.get("FUZZ_SEED") or secrets.randbelow(2**32))


def rounds(most: int = 100_000) -> Iterator[int]:
    """As many as the time allows."""
    ends = time.monotonic() + SECONDS
    for number in range(most):
        if time.monotonic() > ends:
            return
        yield number
