"""Live updates: names of things that changed, never their content.

A page listens on channels it may see and fetches what changed by itself, so every fragment has one
address and one permission check.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable

from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from core.valkey import async_connection, connection

log = logging.getLogger(__name__)

PREFIX = "stream:"
EVERYTHING = "*"
HEARTBEAT_SECONDS = 15.0
GATHER_SECONDS = 0.03  # changes that come together are told together
MOST_AT_ONCE = 1000


def publish(channel: str, *names: str) -> None:
    """Tell listeners of ``channel`` that these changed. Losing one is harmless: pages poll."""
    try:
        with connection().pipeline(transaction=False) as together:
            for name in names:
                together.publish(PREFIX + channel, name)
            together.execute()
    except RedisError as error:
        log.warning("No live update for %s: %s", ", ".join(names), error)


async def listen(channels: Iterable[str]) -> AsyncGenerator[list[str]]:
    """Names that were published, each once, in batches; an empty batch is a heartbeat.

    Ends when the broker goes away: whoever listens reconnects, and asks again what it may see.
    """
    names = [PREFIX + channel for channel in channels]
    if not names:
        while True:
            yield []
            await asyncio.sleep(HEARTBEAT_SECONDS)
    client = async_connection()
    pubsub = client.pubsub(ignore_subscribe_messages=True)
    try:
        await _subscribe(pubsub, names)
        yield []
        while True:
            yield await _batch(pubsub)
    except RedisError as error:
        log.warning("The live updates of a page were cut: %s", error)
    finally:
        await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py left it untyped
        await client.aclose()


async def _subscribe(pubsub: PubSub, names: list[str]) -> None:
    patterns = [name for name in names if name.endswith(EVERYTHING)]
    plain = [name for name in names if not name.endswith(EVERYTHING)]
    if patterns:
        await pubsub.psubscribe(*patterns)
    if plain:
        await pubsub.subscribe(*plain)


async def _batch(pubsub: PubSub) -> list[str]:
    """Waits for a name, then gathers for a moment what comes with it."""
    names: dict[str, None] = {}
    loop = asyncio.get_running_loop()
    wait, deadline = HEARTBEAT_SECONDS, loop.time() + HEARTBEAT_SECONDS
    while wait > 0 and len(names) < MOST_AT_ONCE:
        message = await pubsub.get_message(timeout=wait)
        if message is not None:
            if not names:
                deadline = loop.time() + GATHER_SECONDS
            names[message["data"].decode()] = None
        wait = deadline - loop.time()
    return list(names)
