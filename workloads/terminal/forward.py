"""Connections to ports of running ranks: who may open one, how many at once, and what is
recorded."""

import socket
from dataclasses import dataclass
from uuid import uuid4

from redis.exceptions import RedisError

from accounts.models import User
from audit import services as audit
from clusters.connections import engine_for
from core.broker import slots
from core.broker.valkey import valkey_connection
from engines.base import EngineError
from workloads.history import events
from workloads.models import Rank
from workloads.terminal import access
from workloads.terminal.access import SLOT_SECONDS, NotOpened

CONNECTIONS_PER_USER = 100  # a browser opens six for each page, and keeps them
ONCE_SECONDS = 600  # connections within this time are recorded as one
PORTS = range(1, 65_536)


@dataclass(frozen=True)
class Forward:
    """One open connection."""

    rank: Rank
    user: User
    stream: socket.socket
    slot: str

    @property
    def slots_name(self) -> str:
        return _slots_name(self.user)


def open_forward(user: User, rank: Rank, port: int | None) -> Forward:
    """Connect to a port that the rank listens on. Raises :class:`NotOpened`."""
    if port is None or port not in PORTS:
        raise NotOpened("port must be a number from 1 to 65535.")
    problem = access.why_no_entry(rank, user)
    if problem:
        raise NotOpened(problem)
    slot = uuid4().hex
    most = CONNECTIONS_PER_USER
    workload = rank.workload
    try:
        if not slots.take_slot(_slots_name(user), slot, most=most, seconds=SLOT_SECONDS):
            raise NotOpened(f"You have {most} connections open, which is the limit.")
        stream = engine_for(workload.cluster).dial(workload.handle, rank=rank.rank, port=port)
        key = f"forward:{user.pk}:{rank.pk}:{port}"
        is_first = valkey_connection().set(key, 1, nx=True, ex=ONCE_SECONDS)
    except EngineError as error:
        slots.release_slot(_slots_name(user), slot)
        raise NotOpened(str(error)) from error
    except RedisError as error:
        raise NotOpened("Trainyard's broker does not answer. Try again soon.") from error
    if is_first:
        text = f"Port {port} of {rank.name} forwarded."
        events.record_action(workload, text, actor=user, verb="port-forward")
        audit.record(user, "forward a port of", rank)
    return Forward(rank, user, stream, slot)


def reason_to_end(forward: Forward, user: User | None) -> str:
    """Return why an open connection must end now; empty if it may stay. ``user`` is the one to whom
    its token belongs now. Also renews its slot among the connections of the user."""
    allowed = access.find_rank(user, forward.rank.workload_id, forward.rank.rank)
    if allowed is None or allowed[0] != forward.user:
        return "You are no longer signed in, or no longer have access to this workload."
    most = CONNECTIONS_PER_USER + 1
    slots.take_slot(forward.slots_name, forward.slot, most=most, seconds=SLOT_SECONDS)
    return access.why_no_entry(allowed[1], allowed[0])


def close_forward(forward: Forward) -> None:
    """Close the connection, and free its slot among the connections of the user."""
    forward.stream.close()
    slots.release_slot(forward.slots_name, forward.slot)


def _slots_name(user: User) -> str:
    return f"forwards:{user.pk}"
