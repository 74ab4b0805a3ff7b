"""A lease has one holder, who lets go when the process is asked to end."""

from collections.abc import Iterator

import pytest
import redis

from core.broker import lease as leases
from core.broker.lease import hold_lease

pytestmark = pytest.mark.usefixtures("valkey")


@pytest.fixture
def ending() -> Iterator[None]:
    leases.shutting_down.set()
    yield
    leases.shutting_down.clear()


def test_a_lease_has_a_single_holder_at_a_time() -> None:
    with hold_lease("watch", seconds=10) as mine:
        assert mine is not None
        assert mine()
        with hold_lease("watch", seconds=10) as other:
            assert other is None
    with hold_lease("watch", seconds=10) as again:
        assert again is not None


def test_a_holder_who_lost_a_lease_is_told(valkey: redis.Redis) -> None:
    with hold_lease("watch", seconds=10) as mine:
        assert mine is not None
        valkey.delete("lease:watch")
        assert not mine()


def test_a_lease_is_let_go_when_the_process_ends(ending: None) -> None:
    with hold_lease("watch", seconds=10) as mine:
        assert mine is not None
        assert not mine()


def test_the_first_time_of_a_lease_may_be_longer(valkey: redis.Redis) -> None:
    with hold_lease("watch", seconds=5, first_seconds=30) as mine:
        assert mine is not None
        assert valkey.pttl("lease:watch") > 20_000
        assert mine()
        assert valkey.pttl("lease:watch") <= 5_000
