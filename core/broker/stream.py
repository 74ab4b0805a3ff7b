"""Live updates: the names of things that changed, never their content.

A page listens on the channels it may see and fetches what changed itself. So every fragment has one
address and one permission check.
"""

import logging
from collections.abc import AsyncGenerator, Iterable

from redis.exceptions import RedisError

from core.broker import fanout
from core.broker.fanout import PREFIX, CutOffError
from core.broker.valkey import valkey_connection

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 15.0


def publish(channel: str, *names: str) -> None:
    """Tell listeners of ``channel`` which names changed. A lost message is harmless: pages poll."""
    try:
        for name in names:
            valkey_connection().publish(PREFIX + channel, name)
    except RedisError as error:
        log.warning("No live update for %s: %s", ", ".join(names), error)


async def listen(channels: Iterable[str]) -> AsyncGenerator[list[str]]:
    """Yield published names in batches without duplicates; an empty batch is a heartbeat.

    The first batch is empty and says that nothing is missed from here on. The generator ends when
    the broker goes away or the reader is too slow: clients then reconnect, and their permissions
    are checked again.
    """
    shared = fanout.local_fanout()
    listener = await shared.join(channels)
    try:
        yield []
        while True:
            yield await listener.wait_for_names(HEARTBEAT_SECONDS)
    except CutOffError:
        return
    finally:
        await shared.leave(listener)
