"""A thousand workloads through REST until their jobs exist, and the same jobs by the bare client.

Needs an API server without the training operator, so that both sides share the cores only with it.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from bench.kubernetes.place import IMAGE, Place, peer_namespace, signed_in
from bench.report import Row, percentile
from config.run.install import ROOT
from engines.kubernetes.kinds import PYTORCH
from tests.rest import Rest
from tests.waiting import wait_for

COUNT = 1_000
CALLERS = 8
LONGEST = 600.0
PAUSE = 0.25  # seconds between two looks at the pages


def rows(place: Place, count: int = COUNT) -> Iterator[Row]:
    with pages(place) as times:
        ours = _through_trainyard(place, count)
    peer = _by_the_bare_client(place, count)
    yield Row(
        what=f"{count:,} workloads submitted through REST until their jobs exist",
        ours=ours,
        unit="s",
        limit=2.0,
        peer=peer,
        peer_name="kubernetes client, 8 threads",
    )
    yield Row(
        what=f"A page of workloads meanwhile, p95 of {len(times)}",
        ours=percentile(times, 0.95) * 1000,
        unit="ms",
        limit=100,
    )


def _through_trainyard(place: Place, count: int) -> float:
    with place.rest() as rest, ThreadPoolExecutor(CALLERS) as pool:
        rest.submit("warm-up", image=IMAGE)
        wait_for(lambda: _jobs(place, place.namespace) == 1, 60, "the first job")
        caller = Caller(rest)
        started = time.perf_counter()
        list(pool.map(lambda n: caller.submit(f"load-{n}", image=IMAGE), range(count)))
        wait_for(lambda: _jobs(place, place.namespace) > count, LONGEST, "the jobs", every=0.05)
        return time.perf_counter() - started


class Caller:
    """Submits with little work of its own, for it shares the cores with what is measured. Each
    thread keeps its connection."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest
        self.address = f"{rest.http.base_url.host}:{rest.http.base_url.port}"
        self.headers = {
            "Authorization": rest.http.headers["Authorization"],
            "Content-Type": "application/json",
        }
        self.own = threading.local()

    def submit(self, name: str, **spec: Any) -> None:
        if not hasattr(self.own, "http"):
            self.own.http = HTTPConnection(self.address, timeout=60)
        body = json.dumps(self.rest.document(name, **spec))
        self.own.http.request("POST", "/api/v1/workloads/distributed", body, self.headers)
        answer = self.own.http.getresponse()
        said = answer.read()
        if answer.status != 202:
            raise RuntimeError(f"{name} was refused: {answer.status} {said!r}")


def _by_the_bare_client(place: Place, count: int) -> float:
    """The very job that Trainyard made, without what the server added to it."""
    path = f"/apis/{PYTORCH.api_version}/namespaces/{place.namespace}/{PYTORCH.plural}"
    job = place.api.get(path, limit=1)["items"][0]
    kept = {key: job["metadata"][key] for key in ("labels", "annotations")}
    body = {**{key: job[key] for key in ("apiVersion", "kind", "spec")}, "metadata": kept}
    done = subprocess.run(
        [sys.executable, "-m", "bench.kubernetes.peer", str(count), peer_namespace(place)],
        cwd=ROOT,
        env={**place.trainyard.environment, "KUBECONFIG": str(place.kubeconfig)},
        input=json.dumps(body),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
        timeout=LONGEST,
    )
    return float(done.stdout)


def _jobs(place: Place, namespace: str) -> int:
    """How many there are, without reading them all."""
    path = f"/apis/{PYTORCH.api_version}/namespaces/{namespace}/{PYTORCH.plural}"
    found = place.api.get(path, limit=1)
    return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))


@contextmanager
def pages(place: Place) -> Iterator[list[float]]:
    """Someone who looks at the workloads table again and again; seconds of each page."""
    times: list[float] = []
    over = threading.Event()
    client = signed_in(place.trainyard)

    def look() -> None:
        while not over.wait(PAUSE):
            started = time.perf_counter()
            client.get("/workloads/").raise_for_status()
            times.append(time.perf_counter() - started)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()
        client.close()
