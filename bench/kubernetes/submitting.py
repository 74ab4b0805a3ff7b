"""Compares a thousand workloads through REST, until their jobs exist, with the same jobs by the
bare client.

Workloads are submitted in calls of many, as a sweep does, and in a call for each. Rounds are taken
in turns, because one round of seconds says little on a busy machine, and each begins when
everything has settled. The API server must not have the training operator, so that both sides share
the cores only with the server.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection

from bench.kubernetes.place import IMAGE, BenchSite, peer_namespace, signed_in
from bench.report import Measurement, percentile
from config.run.install import ROOT
from engines.kubernetes.jobs import PYTORCH
from tests.rest import Rest
from tests.waiting import wait_for

COUNT = 1_000
ROUNDS = 3
PATH = "/api/v1/workloads/distributed"
CALLERS = 8
BATCH = 10  # workloads per call: a page never waits longer than one call takes
LIMITS = {BATCH: 1.5, 1: 2.0}  # limit: times what the bare client takes
LONGEST = 600.0
SETTLING = 30.0  # seconds for the API server to settle after its start, or after a round


def rows(place: BenchSite, count: int = COUNT) -> Iterator[Measurement]:
    """Measure both sides, while someone opens pages on both."""
    ours: dict[int, float] = {BATCH: 0.0, 1: 0.0}
    peer = 0.0
    meanwhile = list[float]()
    beside = list[float]()
    with place.rest() as rest:
        rest.submit("warm-up", image=IMAGE)
        wait_for(lambda: _jobs(place, place.namespace) == 1, 60, "the first job")
        for turn in range(ROUNDS):
            for size in ours:
                time.sleep(SETTLING)
                with pages(place, meanwhile):
                    ours[size] += _through_trainyard(place, rest, count, turn, size)
            time.sleep(SETTLING)
            with pages(place, beside):
                peer += _by_the_bare_client(place, count, turn)
    for size, seconds in ours.items():
        yield Measurement(
            what=f"{count:,} workloads submitted through REST until their jobs exist, "
            f"{f'{size} a call' if size > 1 else 'a call of each'}, mean of {ROUNDS} rounds",
            ours=seconds / ROUNDS,
            unit="s",
            limit=LIMITS[size],
            peer=peer / ROUNDS,
            peer_name="kubernetes client, 8 threads",
        )
    yield _page("A page of workloads meanwhile", meanwhile)
    yield _page("The same page while only the bare client creates jobs", beside)


def _page(what: str, times: list[float]) -> Measurement:
    slowest = percentile(times, 0.95) * 1000
    return Measurement(what=f"{what}, p95 of {len(times)}", ours=slowest, unit="ms", limit=150)


def _through_trainyard(place: BenchSite, rest: Rest, count: int, turn: int, size: int) -> float:
    there = _jobs(place, place.namespace) + count
    names = [f"load-{turn}-{size}-{n}" for n in range(count)]
    calls = [names[start : start + size] for start in range(0, count, size)]
    with ThreadPoolExecutor(CALLERS) as pool:
        caller = Caller(rest)
        started = time.perf_counter()
        list(pool.map(caller.submit, calls))
        wait_for(lambda: _jobs(place, place.namespace) == there, LONGEST, "the jobs", every=0.05)
        return time.perf_counter() - started


class Caller:
    """Submits workloads with little work of its own, because it shares the cores with what is
    measured. Each thread keeps its connection."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest
        self.address = f"{rest.http.base_url.host}:{rest.http.base_url.port}"
        self.headers = {
            "Authorization": rest.http.headers["Authorization"],
            "Content-Type": "application/json",
        }
        self.own = threading.local()

    def submit(self, names: list[str]) -> None:
        """Submit workloads with these names in one call. Raises ``RuntimeError`` if it is
        refused."""
        if not hasattr(self.own, "http"):
            self.own.http = HTTPConnection(self.address, timeout=60)
        documents = [self.rest.document(name, image=IMAGE) for name in names]
        path = f"{PATH}/batch-create"
        body = {"workloads": documents}
        if len(documents) == 1:
            path = PATH
            body = documents[0]
        self.own.http.request("POST", path, json.dumps(body), self.headers)
        answer = self.own.http.getresponse()
        said = answer.read()
        if answer.status != 202:
            raise RuntimeError(f"{names[0]} was refused: {answer.status} {said!r}")


def _by_the_bare_client(place: BenchSite, count: int, turn: int) -> float:
    """Return the seconds in which the peer creates ``count`` copies of a job that Trainyard
    created.

    They lack what the server added to it, and their labels have other names: otherwise Trainyard
    would take them for its own.
    """
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


def _jobs(place: BenchSite, namespace: str) -> int:
    """Count the jobs in a namespace without reading all of them."""
    path = f"/apis/{PYTORCH.api_version}/namespaces/{namespace}/{PYTORCH.plural}"
    listing = place.api.get(path, limit=1)
    return len(listing["items"]) + int(listing["metadata"].get("remainingItemCount", 0))


@contextmanager
def pages(place: BenchSite, times: list[float]) -> Iterator[None]:
    """Let someone open the workloads table while the block runs. Adds the seconds of each page to
    ``times``."""
    with closing(signed_in(place.trainyard)) as client:
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        order = {"address": client.base_url.netloc.decode(), "cookie": cookie}
    looker = subprocess.Popen(
        [sys.executable, "-m", "bench.kubernetes.looker"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with looker:
        if looker.stdin is None or looker.stdout is None:
            raise RuntimeError("pipes were asked for")
        print(json.dumps(order), file=looker.stdin, flush=True)
        looker.stdout.readline()
        try:
            yield
        finally:
            looker.stdin.close()
            times += json.loads(looker.stdout.read())
