"""``kill -9`` of random processes at random moments, round after round.

A failure prints its seed: ``KILL_SEED=… make test T=tests/faults/test_kill_rounds.py`` plays that
round again, ``KILL_ROUNDS=`` plays more of them.
"""

import os
import secrets
from random import Random

import pytest

from tests.faults import invariants
from tests.faults.killing import Round
from tests.product import Trainyard
from tests.rest import Rest

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("KILL_ROUNDS", "2"))
SEED = os.environ.get("KILL_SEED")


@pytest.mark.parametrize("number", [1] if SEED else range(1, ROUNDS + 1))
def test_whatever_dies_every_workload_ends_as_it_would_have(
    trainyard: Trainyard, rest: Rest, number: int
) -> None:
    seed = int(SEED or secrets.randbelow(2**32))
    print(f"KILL_SEED={seed}")  # noqa: T201 -- pytest shows it with a failure
    random = Random(seed)  # noqa: S311 -- the same again from the same seed
    played = Round(trainyard, rest, random, f"round-{seed}-{secrets.token_hex(2)}")
    played.play()
    invariants.hold(played)
