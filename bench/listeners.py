"""Open pages without a browser around them: each holds the stream and fetches the rows it names.

Fifty browsers on the machine of the server would measure the browsers, and fifty clients of a
library that library. A few are real; the others put the same requests on the server, by sockets.
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
    """``count`` pages stay open meanwhile, signed in by the cookies of ``state``."""
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
    """They run in an event loop of their own thread: Playwright has that of the main one."""

    def __init__(self, url: str, cookies: dict[str, str], count: int) -> None:
        self.address = urlsplit(url).netloc
        self.cookies = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self.count = count
        self.started = threading.Event()

    async def stay_open(self) -> None:
        self.loop, self.closing = asyncio.get_running_loop(), asyncio.Event()
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
        """A connection each time: one that is kept may be closed as it is used again."""
        host, _, port = self.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {self.address}", f"Cookie: {self.cookies}"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise RuntimeError(f"{path}: {status!r}")
        return reader, writer
