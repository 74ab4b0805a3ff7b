"""Live updates: names of things that changed, never their content.

A page listens on channels it may see and fetches what changed by itself, so every fragment has one
address and one permission check.
"""

import logging
from collections.abc import AsyncIterator, Iterable

from redis.exceptions import RedisError

from core.valkey import async_connection, connection

log = logging.getLogger(__name__)

PREFIX = "stream:"
EVERYTHING = "*"
HEARTBEAT_SECONDS = 15.0


def publish(channel: str, name: str) -> None:
    """Tell listeners of ``channel`` that ``name`` changed. Losing one is harmless: pages poll."""
    try:
        connection().publish(PREFIX + channel, name)
    except RedisError as error:
        log.warning("No live update for %s: %s", name, error)


async def listen(channels: Iterable[str]) -> AsyncIterator[str | None]:
    """Names as they are published; ``None`` as a heartbeat when nothing happens."""
    client = async_connection()
    pubsub = client.pubsub()
    try:
        names = [PREFIX + channel for channel in channels]
        patterns = [name for name in names if name.endswith(EVERYTHING)]
        plain = [name for name in names if not name.endswith(EVERYTHING)]
        if patterns:
            await pubsub.psubscribe(*patterns)
        if plain:
            await pubsub.subscribe(*plain)
        while True:
            message = await pubsub.get_message(
                ignore_subscribe_messages=True, timeout=HEARTBEAT_SECONDS
            )
            yield None if message is None else message["data"].decode()
    finally:
        await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py left it untyped
        await client.aclose()
