"""A thousand workloads through REST until their jobs exist, and the same jobs by the bare client.

By turns, a few times, for one turn of seconds says little on a machine whose cores are all taken.
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

COUNT, ROUNDS = 1_000, 3
CALLERS = 8
LONGEST = 600.0
PAUSE = 0.5  # seconds between two looks at the pages
SETTLING = 30.0  # seconds until an API server that was just started is at rest, or the last round


def rows(place: Place, count: int = COUNT) -> Iterator[Row]:
    times: list[float] = []
    ours = peer = 0.0
    with place.rest() as rest:
        rest.submit("warm-up", image=IMAGE)
        wait_for(lambda: _jobs(place, place.namespace) == 1, 60, "the first job")
        for turn in range(ROUNDS):
            time.sleep(SETTLING)
            with pages(place, times):
                ours += _through_trainyard(place, rest, count, turn)
            peer += _by_the_bare_client(place, count, turn)
    yield Row(
        what=f"{count:,} workloads submitted through REST until their jobs exist, "
        f"mean of {ROUNDS} rounds",
        ours=ours / ROUNDS,
        unit="s",
        limit=2.0,
        peer=peer / ROUNDS,
        peer_name="kubernetes client, 8 threads",
    )
    yield Row(
        what=f"A page of workloads meanwhile, p95 of {len(times)}",
        ours=percentile(times, 0.95) * 1000,
        unit="ms",
        limit=100,
    )


def _through_trainyard(place: Place, rest: Rest, count: int, turn: int) -> float:
    there = _jobs(place, place.namespace) + count
    with ThreadPoolExecutor(CALLERS) as pool:
        caller = Caller(rest)
        started = time.perf_counter()
        list(pool.map(lambda n: caller.submit(f"load-{turn}-{n}", image=IMAGE), range(count)))
        wait_for(lambda: _jobs(place, place.namespace) == there, LONGEST, "the jobs", every=0.05)
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


def _by_the_bare_client(place: Place, count: int, turn: int) -> float:
    """The very job that Trainyard made, without what the server added to it, and with labels of
    other names, for else Trainyard would take it for its own."""
    path = f"/apis/{PYTORCH.api_version}/namespaces/{place.namespace}/{PYTORCH.plural}"
    job = place.api.get(path, limit=1)["items"][0]
    labels = {f"peer-{name}": value for name, value in job["metadata"]["labels"].items()}
    kept = {"labels": labels, "annotations": job["metadata"]["annotations"]}
    body = {**{key: job[key] for key in ("apiVersion", "kind", "spec")}, "metadata": kept}
    done = subprocess.run(
        [sys.executable, "-m", "bench.kubernetes.peer", str(count), peer_namespace(place, turn)],
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
def pages(place: Place, times: list[float]) -> Iterator[None]:
    """Someone who looks at the workloads table again and again; seconds of each go to ``times``."""
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
        yield
    finally:
        over.set()
        thread.join()
        client.close()
