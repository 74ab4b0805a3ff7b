"""The one subscription at the broker of a whole process, and all who listen to it here.

Were each open page subscribed by itself, fifty of them would wake for each change before any of
them could fetch it.
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
EVERYTHING = "*"  # at the end of a channel: all that begin so
GATHER_SECONDS = 0.03  # changes that come together are told together
SIGN_SECONDS = 5.0  # after which a silent broker is asked for a sign of life, and may take as long
MOST_UNREAD = 5000  # names that wait for a listener

#: Names that changed, each once and in their order, by channel.
Batch = dict[str, dict[str, None]]


class CutOffError(Exception):
    """What is published does not come any longer. Whoever listens starts again, and reads all."""


class PageListener:
    """Names that were published on its channels and that it has not read."""

    def __init__(self, channels: Iterable[str]) -> None:
        self.channels = frozenset(channels)
        self._beginnings = tuple(
            it.removesuffix(EVERYTHING) for it in self.channels if it.endswith(EVERYTHING)
        )
        self._unread: dict[str, None] = {}
        self._woken = asyncio.Event()
        self._is_cut = False

    async def names(self, patience: float) -> list[str]:
        """What is new, within ``patience`` seconds; nothing means that all is well."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._woken.wait()
        if self._is_cut:
            raise CutOffError
        names, self._unread = list(self._unread), {}
        self._woken.clear()
        return names

    def tell(self, batch: Batch) -> None:
        for channel, names in batch.items():
            if channel in self.channels or channel.startswith(self._beginnings):
                self._unread |= names
        if len(self._unread) > MOST_UNREAD:
            self.cut()
        elif self._unread:
            self._woken.set()

    def cut(self) -> None:
        self._is_cut, self._unread = True, {}
        self._woken.set()


class Fanout:
    """Begins with its first listener, and ends with its last or when the broker goes away."""

    def __init__(self) -> None:
        self._listeners: set[PageListener] = set()
        self._has_begun = asyncio.Event()
        self._reading = asyncio.create_task(self._read(), name="fanout")

    async def join(self, channels: Iterable[str]) -> PageListener:
        """From here on nothing is missed."""
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
            self._forget()
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def _forget(self) -> None:
        """Whoever comes next begins another."""
        loop = asyncio.get_running_loop()
        if _fanouts.get(loop) is self:
            del _fanouts[loop]

    async def _read(self) -> None:
        client = async_connection()
        pubsub = client.pubsub()
        try:
            await pubsub.psubscribe(PREFIX + EVERYTHING)
            await _next(pubsub)
            self._has_begun.set()
            while True:
                self._tell(await _gathered(pubsub))
        except (RedisError, OSError) as error:
            log.warning("Live updates were cut off: %s", error)
        finally:
            self._forget()
            self._has_begun.set()
            for listener in self._listeners:
                listener.cut()
            await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py left it untyped
            await client.aclose()

    def _tell(self, batch: Batch) -> None:
        for listener in self._listeners:
            listener.tell(batch)


_fanouts: WeakKeyDictionary[asyncio.AbstractEventLoop, Fanout] = WeakKeyDictionary()


def here() -> Fanout:
    """That of the running event loop, of which a process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _fanouts:
        _fanouts[loop] = Fanout()
    return _fanouts[loop]


async def _gathered(pubsub: PubSub) -> Batch:
    """Waits for a name, then gathers for a moment what comes with it."""
    batch: Batch = {}
    message: Any = await _next(pubsub)
    now = asyncio.get_running_loop().time
    ends = now() + GATHER_SECONDS
    while True:
        if message is not None and message["type"] == "pmessage":
            channel = message["channel"].decode().removeprefix(PREFIX)
            batch.setdefault(channel, {})[message["data"].decode()] = None
        if (wait := ends - now()) <= 0:
            return batch
        message = await pubsub.get_message(timeout=wait)


async def _next(pubsub: PubSub) -> Any:
    """Whatever the broker says next; a silent one is asked for a sign of life."""
    message = await pubsub.get_message(timeout=SIGN_SECONDS)
    if message is None:
        await pubsub.ping()
        message = await pubsub.get_message(timeout=SIGN_SECONDS)
    if message is None:
        raise NoConnection("the broker does not answer")
    return message
