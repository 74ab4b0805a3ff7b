"""Open pages without a browser: each holds the stream of changes, and fetches the rows that it
names.

Fifty browsers on the server's machine would measure the browsers, and fifty clients of an HTTP
library that library. So only a few are real; the others send the same requests by sockets.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import StorageState

from tests.product import Trainyard

STREAM = "/stream/?output=all"


@contextmanager
def listening(trainyard: Trainyard, state: StorageState, count: int) -> Iterator[None]:
    """Keep ``count`` pages open while the block runs, signed in by the cookies of ``state``."""
    cookies = {str(cookie.get("name")): str(cookie.get("value")) for cookie in state["cookies"]}
    pages = OpenPages(trainyard.url, cookies, count)
    thread = threading.Thread(target=lambda: asyncio.run(pages.stay_open()))
    thread.start()
    try:
        yield
    finally:
        pages.close()
        thread.join()


class OpenPages:
    """The pages, which run in the event loop of a thread: the main thread's loop is
    Playwright's."""

    def __init__(self, url: str, cookies: dict[str, str], count: int) -> None:
        self.address = urlsplit(url).netloc
        self.cookies = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self.count = count
        self.started = threading.Event()

    async def stay_open(self) -> None:
        """Keep the pages open until ``close``. Raises ``RuntimeError`` if one ends before."""
        self.loop = asyncio.get_running_loop()
        self.closing = asyncio.Event()
        self.started.set()
        pages = [asyncio.create_task(self._page()) for _ in range(self.count)]
        await self.closing.wait()
        for page in pages:
            page.cancel()
        ends = await asyncio.gather(*pages, return_exceptions=True)
        for end in ends:
            if not isinstance(end, asyncio.CancelledError):
                raise RuntimeError(f"an open page ended early: {end!r}")

    def close(self) -> None:
        """Close the pages. Any thread may call it."""
        self.started.wait()
        self.loop.call_soon_threadsafe(self.closing.set)

    async def _page(self) -> None:
        stream, writer = await self._ask(STREAM)
        while line := (await stream.readline()).decode():
            names = line.removeprefix("data: ").split() if line.startswith("data: ") else []
            ids = [name[2:] for name in names if name.startswith("w-")]
            if ids:
                await self._fetch(f"/workloads/rows/?ids={','.join(ids)}")
        writer.close()

    async def _fetch(self, path: str) -> None:
        answer, writer = await self._ask(path)
        await answer.read()
        writer.close()

    async def _ask(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a GET, and return its connection once the status has arrived. Each request has a new
        connection, because one that is kept may be closed just when it is used again."""
        host, _, port = self.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {self.address}", f"Cookie: {self.cookies}"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise RuntimeError(f"{path}: {status!r}")
        return reader, writer
