"""Seed and duration of a fuzz test."""

import os
import secrets
import time
from collections.abc import Iterator

SECONDS = float(os.environ.get("FUZZ_SECONDS", "6"))


def seed() -> int:
    """Return the seed: ``FUZZ_SEED``, or else a random one."""
    return int(os.environ.get("FUZZ_SEED") or secrets.randbelow(2**32))


def rounds(most: int = 100_000) -> Iterator[int]:
    """Yield numbers until ``FUZZ_SECONDS`` are over, but at most ``most``."""
    ends = time.monotonic() + SECONDS
    for number in range(most):
        if time.monotonic() > ends:
            return
        yield number
