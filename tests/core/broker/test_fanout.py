"""One subscription for all open pages of a process, at a real Valkey."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync, sync_to_async

from core.broker import fanout, stream

pytestmark = pytest.mark.usefixtures("valkey")
Batches = AsyncGenerator[list[str]]


async def opened(stack: AsyncExitStack, channels: Iterable[str]) -> Batches:
    batches = await stack.enter_async_context(aclosing(stream.listen(channels)))
    assert await anext(batches) == [], "it has begun"
    return batches


async def told(batches: Batches) -> list[str]:
    return await asyncio.wait_for(anext(batches), 5)


async def publish(channel: str, *names: str) -> None:
    def all_at_once() -> None:
        for name in names:
            stream.publish(channel, name)

    await sync_to_async(all_at_once)()


def run(scenario: Callable[[AsyncExitStack], Awaitable[Any]]) -> Any:
    async def whole() -> Any:
        async with AsyncExitStack() as stack:
            return await scenario(stack)

    return async_to_sync(whole)()


def test_fifty_pages_are_one_subscription(valkey: redis.Redis) -> None:
    async def scenario(stack: AsyncExitStack) -> list[list[str]]:
        pages = [await opened(stack, ["project:1"]) for _ in range(50)]
        assert valkey.pubsub_numpat() == 1
        assert not valkey.pubsub_channels()
        await publish("project:1", "w-1", "w-2", "w-1")
        return [await told(page) for page in pages]

    assert run(scenario) == [["w-1", "w-2"]] * 50
    assert not valkey.pubsub_numpat(), "the last page ends it"


def test_a_listener_hears_its_own_channels_alone() -> None:
    async def scenario(stack: AsyncExitStack) -> tuple[list[str], ...]:
        own = await opened(stack, ["project:1", "project:3"])
        every = await opened(stack, ["project:*"])
        for number in (1, 11, 2, 3):
            await publish(f"project:{number}", f"w-{number}")
        heard: tuple[list[str], ...] = ([], [])
        while "w-3" not in heard[0] or "w-3" not in heard[1]:
            for batches, names in zip((own, every), heard, strict=True):
                names += [] if "w-3" in names else await told(batches)
        return heard

    assert run(scenario) == (["w-1", "w-3"], ["w-1", "w-11", "w-2", "w-3"])


def test_a_broken_connection_ends_the_streams(valkey: redis.Redis) -> None:
    async def scenario(stack: AsyncExitStack) -> list[str]:
        pages = [await opened(stack, ["project:1"]) for _ in range(2)]
        valkey.client_kill_filter(_type="pubsub")
        for page in pages:
            with pytest.raises(StopAsyncIteration):
                await told(page)
        again = await opened(stack, ["project:1"])
        await publish("project:1", "w-1")
        return await told(again)

    assert run(scenario) == ["w-1"]


def test_a_broker_without_a_sign_of_life_ends_the_streams(
    valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fanout, "SILENCE_SECONDS", 0.1)

    async def scenario(stack: AsyncExitStack) -> None:
        reading = asyncio.ensure_future(told(await opened(stack, ["project:1"])))
        await asyncio.wait([reading], timeout=0.5)
        assert not reading.done(), "it is silent, and answers when it is asked"
        valkey.client_pause(500)
        with pytest.raises(StopAsyncIteration):
            await reading

    run(scenario)


def test_only_a_slow_reader_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "MOST_UNREAD", 3)

    async def scenario(stack: AsyncExitStack) -> list[str]:
        slow, quick = [await opened(stack, ["project:1"]) for _ in range(2)]
        heard: list[str] = []
        for number in range(5):
            await publish("project:1", f"w-{number}")
            heard += await told(quick)
        with pytest.raises(StopAsyncIteration):
            await told(slow)
        return heard

    assert run(scenario) == [f"w-{number}" for number in range(5)]


def test_a_page_that_comes_while_the_last_one_leaves_misses_nothing(valkey: redis.Redis) -> None:
    async def scenario(stack: AsyncExitStack) -> list[str]:
        first = stream.listen(["project:1"])
        await anext(first)
        leaving = asyncio.ensure_future(first.aclose())
        second = await opened(stack, ["project:1"])
        await leaving
        await publish("project:1", "w-1")
        return await told(second)

    assert run(scenario) == ["w-1"]
    assert not valkey.pubsub_numpat()
