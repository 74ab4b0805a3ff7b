"""Samples of what ranks use, from a fake metrics API and a fake Prometheus. No cluster."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from kubernetes.client import Configuration
from kubernetes.client.api_client import ApiClient

from engines.kubernetes import usage
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import PYTORCH
from engines.kubernetes.observing import Look
from engines.kubernetes.usage import METRICS, Meter
from tests.engines.kubernetes.test_observing import MASTER, START, WORKER

NAMES = ("demo-master-0", "demo-worker-0")
AGO = datetime.now(UTC) - timedelta(hours=1)


class Fake(ThreadingHTTPServer):
    """Plays both: answers by path, and counts what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Any] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.asked.append(url.path)
        answer = self.server.answers.get(url.path)
        if url.path.endswith("/query"):
            assert "DCGM_FI_DEV_GPU_UTIL" in parse_qs(url.query)["query"][0]
        self.send_response(200 if answer else 404)
        self.end_headers()
        self.wfile.write(json.dumps(answer or {}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def fake() -> Iterator[Fake]:
    with Fake() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def look() -> Look:
    pods = [
        {**pod, "metadata": pod["metadata"] | {"namespace": "trainyard-a", "name": name}}
        for pod, name in zip((MASTER, WORKER), NAMES, strict=True)
    ]
    spec = {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}}
    meta = {"uid": "job", "creationTimestamp": START.isoformat()}
    return Look.at(PYTORCH, {"metadata": meta, "spec": spec}, pods)


def meter(fake: Fake, *, prometheus: bool = True) -> Meter:
    configuration = Configuration()
    configuration.host = fake.address
    configuration.retries = False
    api = Api(ApiClient(configuration))
    address = fake.address if prometheus else ""
    return Meter(api, prefix="trainyard-", prometheus=address)


def pods(cpu: str, memory: str) -> dict[str, Any]:
    """As metrics-server lists them: one container trains, the other stands by."""
    containers = [{"usage": {"cpu": cpu, "memory": memory}}, {"usage": {"cpu": "0"}}]
    return {
        "items": [
            {"metadata": {"namespace": "trainyard-a", "name": name}, "containers": containers}
            for name in NAMES
        ]
    }


def series(*, exported: bool = False) -> dict[str, Any]:
    label = "exported_" if exported else ""
    values = [
        ("DCGM_FI_DEV_GPU_UTIL", 80),
        ("DCGM_FI_DEV_GPU_UTIL", 40),
        ("DCGM_FI_DEV_FB_USED", 1024),
        ("DCGM_FI_DEV_FB_USED", 512),
    ]
    where = {f"{label}namespace": "trainyard-a", f"{label}pod": NAMES[1]}
    other = {"namespace": "monitoring", "pod": "dcgm-exporter-0"} if exported else {}
    found = [
        {"metric": other | where | {"__name__": name, "gpu": str(n)}, "value": [0, str(value)]}
        for n, (name, value) in enumerate(values)
    ]
    return {"data": {"result": found}}


@pytest.mark.parametrize("exported", [False, True])
def test_each_rank_has_a_sample(fake: Fake, exported: bool) -> None:
    fake.answers = {
        METRICS: pods("1500m", "2Gi"),
        "/api/v1/query": series(exported=exported),
    }
    first, second = meter(fake).read(look(), AGO)
    assert (first.rank, first.cpu, first.memory, first.gpu) == (0, 1.5, 2 * 1024**3, None)
    assert (second.gpu, second.gpu_memory) == (60.0, 1536 * 1024**2)
    assert (second.origin, second.attempt) == ("worker-0", 0)


def test_one_request_serves_every_workload_for_a_while(fake: Fake) -> None:
    fake.answers = {METRICS: pods("123456789n", "1000Ki")}
    read = meter(fake, prometheus=False)
    found = read.read(look(), AGO)
    assert [(one.cpu, one.memory) for one in found] == [(0.1235, 1_024_000)] * 2
    assert read.read(look(), None) == found
    assert read.read(look(), found[0].at) == []
    assert fake.asked == [METRICS]


def test_a_source_that_is_missing_is_left_alone(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "EVERY", 0.0)
    fake.answers = {"/api/v1/query": series()}
    read = meter(fake)
    for _ in range(3):
        assert [(one.cpu, one.gpu) for one in read.read(look(), AGO)] == [(None, 60.0)]
    assert fake.asked.count(METRICS) == 1
    assert fake.asked.count("/api/v1/query") == 3


def test_without_either_there_are_no_samples(fake: Fake) -> None:
    assert meter(fake).read(look(), None) == []
