"""One subscription at the broker per process, shared by all open pages.

If each page subscribed itself, fifty of them would wake up for a change before any could fetch it.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError

from core.broker.valkey import async_connection

log = logging.getLogger(__name__)

PREFIX = "stream:"
EVERYTHING = "*"  # at the end of a channel name: every channel with this prefix
GATHER_SECONDS = 0.03  # changes within this time are delivered together
SILENCE_SECONDS = 5.0  # a broker silent for this long is pinged, and may take as long to answer
MOST_UNREAD = 5000  # unread names after which a listener is cut off

#: By channel, the names that changed: unique, in order. A dict serves as an ordered set.
Batch = dict[str, dict[str, None]]


class CutOffError(Exception):
    """The listener missed messages. It has to start again and read everything."""


class PageListener:
    """Collects the names published on its channels until they are read."""

    def __init__(self, channels: Iterable[str]) -> None:
        self.channels = frozenset(channels)
        self._prefixes = tuple(
            channel.removesuffix(EVERYTHING)
            for channel in self.channels
            if channel.endswith(EVERYTHING)
        )
        self._unread: dict[str, None] = {}
        self._woken = asyncio.Event()
        self._is_cut = False

    async def wait_for_names(self, patience: float) -> list[str]:
        """Wait up to ``patience`` seconds for news. An empty list means that nothing changed.
        Raises ``CutOffError``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._woken.wait()
        if self._is_cut:
            raise CutOffError
        names = list(self._unread)
        self._unread = {}
        self._woken.clear()
        return names

    def deliver(self, batch: Batch) -> None:
        """Collect the names of a batch, and cut the listener off if it has too many unread."""
        for channel, names in batch.items():
            if channel in self.channels or channel.startswith(self._prefixes):
                self._unread |= names
        if len(self._unread) > MOST_UNREAD:
            self.cut_off()
        elif self._unread:
            self._woken.set()

    def cut_off(self) -> None:
        self._is_cut = True
        self._unread = {}
        self._woken.set()


class Fanout:
    """Starts with the first listener, and ends with the last one or when the broker goes away."""

    def __init__(self) -> None:
        self._listeners: set[PageListener] = set()
        self._has_begun = asyncio.Event()
        self._reading = asyncio.create_task(self._read(), name="fanout")

    async def join(self, channels: Iterable[str]) -> PageListener:
        """Register a listener; returns when it is certain to receive everything published from now
        on."""
        listener = PageListener(channels)
        self._listeners.add(listener)
        try:
            await self._has_begun.wait()
        except asyncio.CancelledError:
            await self.leave(listener)
            raise
        return listener

    async def leave(self, listener: PageListener) -> None:
        self._listeners.discard(listener)
        if not self._listeners:
            # Unregister first: a listener that joins during the wait below starts a new fan-out.
            self._forget()
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def _forget(self) -> None:
        """Unregister this fan-out, so that the next listener starts a new one."""
        loop = asyncio.get_running_loop()
        if _fanouts.get(loop) is self:  # not a successor that has started meanwhile
            del _fanouts[loop]

    async def _read(self) -> None:
        client = async_connection()
        pubsub = client.pubsub()
        try:
            await pubsub.psubscribe(PREFIX + EVERYTHING)
            await _next_message(pubsub)  # the confirmation: from here on nothing is missed
            self._has_begun.set()
            while True:
                self._deliver(await _gather_batch(pubsub))
        except (RedisError, OSError) as error:
            log.warning("Live updates were cut off: %s", error)
        finally:
            self._forget()
            self._has_begun.set()  # listeners that wait in ``join`` continue, and are cut off
            for listener in self._listeners:
                listener.cut_off()
            await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py left it untyped
            await client.aclose()

    def _deliver(self, batch: Batch) -> None:
        for listener in self._listeners:
            listener.deliver(batch)


_fanouts: WeakKeyDictionary[asyncio.AbstractEventLoop, Fanout] = WeakKeyDictionary()


def local_fanout() -> Fanout:
    """Return the fan-out of the running event loop, started if there is none."""
    loop = asyncio.get_running_loop()
    if loop not in _fanouts:
        _fanouts[loop] = Fanout()
    return _fanouts[loop]


async def _gather_batch(pubsub: PubSub) -> Batch:
    """Wait for a message, then collect those that arrive within ``GATHER_SECONDS``."""
    batch: Batch = {}
    message: Any = await _next_message(pubsub)
    now = asyncio.get_running_loop().time
    deadline = now() + GATHER_SECONDS
    while True:
        if message is not None and message["type"] == "pmessage":
            channel = message["channel"].decode().removeprefix(PREFIX)
            batch.setdefault(channel, {})[message["data"].decode()] = None
        remaining = deadline - now()
        if remaining <= 0:
            return batch
        message = await pubsub.get_message(timeout=remaining)


async def _next_message(pubsub: PubSub) -> Any:
    """Return the next message. Pings a silent broker once; raises ``ConnectionError`` if it does
    not answer."""
    message = await pubsub.get_message(timeout=SILENCE_SECONDS)
    if message is None:
        await pubsub.ping()
        message = await pubsub.get_message(timeout=SILENCE_SECONDS)
    if message is None:
        raise NoConnection("the broker does not answer")
    return message
