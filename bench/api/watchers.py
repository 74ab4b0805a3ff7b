"""Measures how soon the last of many watching programs hears of a change."""

import asyncio
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from bench.api.place import BenchPlace
from bench.api.submitting import body
from bench.report import Measurement, percentile

WATCHERS = 200
CHANGES = 40


class Watched:
    """Watchers of all workloads. ``heard`` counts, by name of a workload, how many have heard of
    it."""

    def __init__(self, place: BenchPlace) -> None:
        self.place = place
        self.heard = dict[str, int]()
        self.ready = 0
        self.news = asyncio.Event()

    async def watch(self) -> None:
        """Open one connection that watches, and count what it hears."""
        host, port = urlsplit(self.place.url).netloc.split(":")
        stream, writer = await asyncio.open_connection(host, int(port))
        lines = ("GET /api/v1/workloads/watch HTTP/1.1", f"Host: {host}:{port}")
        token = f"Authorization: Bearer {self.place.token}"
        writer.write(("\r\n".join([*lines, token]) + "\r\n\r\n").encode())
        while line := await stream.readline():
            if line.startswith(b"event: ready"):
                self.ready += 1
            elif line.startswith(b"data: ") and b'"name": "' in line:
                name = line.split(b'"name": "')[1].split(b'"')[0].decode()
                self.heard[name] = self.heard.get(name, 0) + 1
            self.news.set()

    async def until(self, holds: object) -> None:
        """Wait until ``holds()``, which is asked after each line. Raises ``TimeoutError`` after a
        minute."""
        async with asyncio.timeout(60):
            while not (callable(holds) and holds()):
                self.news.clear()
                await self.news.wait()


def rows(place: BenchPlace) -> Iterator[Measurement]:
    """Measure from the start of the call that causes a change to the last watcher that
    hears of it."""
    seconds = asyncio.run(_measure(place))
    what = f"{WATCHERS} watchers of GET /workloads/watch: a submission to the last of them, p95"
    yield Measurement(f"{what} of {CHANGES}", percentile(seconds, 0.95), "s", 1.0)


async def _measure(place: BenchPlace) -> list[float]:
    watched = Watched(place)
    tasks = [asyncio.create_task(watched.watch()) for _ in range(WATCHERS)]
    await watched.until(lambda: watched.ready == WATCHERS)
    seconds = []
    headers = {"Authorization": f"Bearer {place.token}"}
    async with httpx.AsyncClient(base_url=f"{place.url}/api/v1", headers=headers) as client:
        for _ in range(CHANGES):
            request = body(place)
            began = time.perf_counter()
            answer = await client.post("/workloads/distributed", json=request, timeout=30)
            answer.raise_for_status()
            name = request["name"]
            await watched.until(lambda name=name: watched.heard.get(name, 0) >= WATCHERS)
            seconds.append(time.perf_counter() - began)
    for task in tasks:
        task.cancel()
    return seconds
