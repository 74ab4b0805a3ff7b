"""Samples of what ranks use, from a fake metrics API and a fake Prometheus. No cluster."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engines.kubernetes.cluster import usage
from engines.kubernetes.cluster.usage import METRICS, UsageReader
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.status.job import JobView
from tests.engines.kubernetes.answering import Answering, answering
from tests.engines.kubernetes.objects import MASTER, START, WORKER

NAMES = ("demo-master-0", "demo-worker-0")
AGO = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def fake() -> Iterator[Answering]:
    with answering() as server:
        yield server
        asked = [query["query"] for query in server.queries if "query" in query]
        assert all("DCGM_FI_DEV_GPU_UTIL" in query for query in asked)


def look() -> JobView:
    pods = [
        {**pod, "metadata": pod["metadata"] | {"namespace": "trainyard-a", "name": name}}
        for pod, name in zip((MASTER, WORKER), NAMES, strict=True)
    ]
    spec = {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}}
    meta = {"uid": "job", "creationTimestamp": START.isoformat()}
    return JobView.from_objects(PYTORCH, {"metadata": meta, "spec": spec}, pods)


def meter(fake: Answering, *, prometheus: bool = True) -> UsageReader:
    address = fake.address if prometheus else ""
    return UsageReader(fake.api, prefix="trainyard-", prometheus=address)


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
def test_each_rank_has_a_sample_of_usage(fake: Answering, exported: bool) -> None:
    fake.answers = {
        METRICS: pods("1500m", "2Gi"),
        "/api/v1/query": series(exported=exported),
    }
    first, second = meter(fake).read(look(), AGO)
    assert (first.rank, first.cpu, first.memory, first.gpu) == (0, 1.5, 2 * 1024**3, None)
    assert (second.gpu, second.gpu_memory) == (60.0, 1536 * 1024**2)
    assert (second.origin, second.attempt) == ("worker-0", 0)


def test_a_single_request_of_usage_serves_every_workload_for_a_while(fake: Answering) -> None:
    fake.answers = {METRICS: pods("123456789n", "1000Ki")}
    read = meter(fake, prometheus=False)
    found = read.read(look(), AGO)
    assert [(one.cpu, one.memory) for one in found] == [(0.1235, 1_024_000)] * 2
    assert read.read(look(), None) == found
    assert read.read(look(), found[0].at) == []
    assert fake.asked == [METRICS]


def test_a_source_that_is_missing_is_left_alone(
    fake: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "SAMPLE_SECONDS", 0.0)
    fake.answers = {"/api/v1/query": series()}
    read = meter(fake)
    for _ in range(3):
        assert [(one.cpu, one.gpu) for one in read.read(look(), AGO)] == [(None, 60.0)]
    assert fake.asked.count(METRICS) == 1
    assert fake.asked.count("/api/v1/query") == 3


def test_there_are_no_samples_of_usage_without_metrics_api_and_prometheus(fake: Answering) -> None:
    assert meter(fake).read(look(), None) == []
