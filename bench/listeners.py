"""Open pages without a browser around them: each holds the stream and fetches the rows it names.

Fifty browsers on the machine of the server would measure the browsers. A few are real; the others
put the same requests on the server.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import StorageState

from tests.product import Trainyard

STREAM = "/stream/?output=all"


@contextmanager
def listening(trainyard: Trainyard, state: StorageState, count: int) -> Iterator[None]:
    """``count`` pages stay open meanwhile, signed in by the cookies of ``state``."""
    cookies = {str(cookie.get("name")): str(cookie.get("value")) for cookie in state["cookies"]}
    pages = Pages(trainyard.url, cookies, count)
    thread = threading.Thread(target=lambda: asyncio.run(pages.stay_open()))
    thread.start()
    try:
        yield
    finally:
        pages.close()
        thread.join()


class Pages:
    """They run in an event loop of their own thread: Playwright has that of the main one."""

    def __init__(self, url: str, cookies: dict[str, str], count: int) -> None:
        self.url, self.cookies, self.count = url, cookies, count
        self.started = threading.Event()

    async def stay_open(self) -> None:
        self.loop, self.closing = asyncio.get_running_loop(), asyncio.Event()
        self.started.set()
        # A connection each time: one that is kept may be closed at the moment it is used again.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx.AsyncClient(
            base_url=self.url, cookies=self.cookies, limits=limits, timeout=60
        ) as client:
            pages = [asyncio.create_task(_page(client)) for _ in range(self.count)]
            await self.closing.wait()
            for page in pages:
                page.cancel()
            ends = await asyncio.gather(*pages, return_exceptions=True)
        for end in ends:
            if not isinstance(end, asyncio.CancelledError):
                raise RuntimeError(f"an open page ended early: {end!r}")

    def close(self) -> None:
        self.started.wait()
        self.loop.call_soon_threadsafe(self.closing.set)


async def _page(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", STREAM) as stream:
        async for line in stream.aiter_lines():
            names = line.removeprefix("data: ").split() if line.startswith("data: ") else []
            ids = [name[2:] for name in names if name.startswith("w-")]
            if ids:
                rows = await client.get("/workloads/rows/", params={"ids": ",".join(ids)})
                rows.raise_for_status()
