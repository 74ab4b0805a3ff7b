"""What workloads used, by REST: only what was measured."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from projects.models import Project
from tests.caller import Caller
from tests.factories import WorkloadFactory
from workloads.models import Workload

START = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
TIME = "start=2026-11-24T12:00:00Z&end=2026-11-24T12:10:00"


@pytest.fixture
def measured(project: Project) -> Workload:
    """Two ranks use as much as their number and one in the first minute, the first rank alone in
    the third."""
    workload: Workload = WorkloadFactory(
        project=project, running=True, created_at=START + timedelta(minutes=5)
    )
    for second, rank, cpu in ((10, 0, 1.0), (20, 1, 2.0), (50, 1, 4.0), (130, 0, 1.5)):
        values = {"cpu": cpu, "gpu": 10 * cpu}
        at = START + timedelta(seconds=second)
        workload.samples.create(kind="usage", run=1, rank=rank, at=at, values=values)
    return workload


def points(answer: Any) -> list[list[tuple[str, str]]]:
    return [
        [(it["timestamp"][11:19], it["value"]) for it in one["values"]]
        for one in answer["measurements"]
    ]


def test_metrics_of_a_workload_are_sums_and_utilizations_are_means(
    call: Caller, measured: Workload
) -> None:
    query = f"metricType=CPU_USAGE_CORES,GPU_UTILIZATION&{TIME}&numberOfSamples=10"
    status, answer = call("GET", f"/workloads/{measured.pk}/metrics?{query}")
    assert status == 200
    cores, share = points(answer)
    assert cores == [("12:01:00", "4"), ("12:03:00", "1.5")]
    assert share == [("12:01:00", "20"), ("12:03:00", "15")]


def test_metrics_of_a_pod_are_its_own(call: Caller, measured: Workload) -> None:
    pod = measured.ranks.get(rank=1).pk
    query = f"metricType=CPU_USAGE_CORES&{TIME}&numberOfSamples=1"
    _, answer = call("GET", f"/workloads/{measured.pk}/pods/{pod}/metrics?{query}")
    assert points(answer) == [[("12:10:00", "3")]]
    assert call("GET", f"/workloads/{measured.pk}/pods/0/metrics?{query}")[0] == 404


def test_requests_are_told_from_when_there_was_a_workload(call: Caller, measured: Workload) -> None:
    query = f"metricType=CPU_REQUEST_CORES&{TIME}&numberOfSamples=5"
    _, answer = call("GET", f"/workloads/{measured.pk}/metrics?{query}")
    assert [at for at, _ in points(answer)[0]] == ["12:06:00", "12:08:00", "12:10:00"]


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        (f"metricType=NIM_NUM_REQUEST_MAX&{TIME}", 501, "does not measure NIM_NUM_REQUEST_MAX"),
        (f"metricType=&{TIME}", 400, "could not be read"),
        ("metricType=CPU_USAGE_CORES&start=2026-11-24&end=2026-11-23", 400, "could not be read"),
        (f"metricType=CPU_USAGE_CORES&{TIME}&numberOfSamples=0", 400, "could not be read"),
    ],
)
def test_metrics_that_nobody_measures_are_refused(
    call: Caller, measured: Workload, query: str, status: int, words: str
) -> None:
    answered, answer = call("GET", f"/workloads/{measured.pk}/metrics?{query}")
    assert (answered, words in answer["message"]) == (status, True), answer


def test_telemetry_counts_what_the_caller_may_see(
    call: Caller, stranger: Caller, measured: Workload
) -> None:
    path = "/workloads/telemetry?telemetryType=WORKLOADS_COUNT"
    assert [it["value"] for it in call("GET", path)[1]["values"]] == ["1"]
    assert [it["value"] for it in stranger("GET", path)[1]["values"]] == ["0"]
    grouped = call("GET", f"{path}&groupBy=Phase&groupBy=Type")[1]["values"]
    assert [[it["value"] for it in one["groups"]] for one in grouped] == [
        ["Running", "Distributed"]
    ]
    three = "&groupBy=Phase,Type,ProjectId"
    assert call("GET", path + three)[1]["complianceIssues"][0]["field"] == "groupBy"
    assert call("GET", f"{path}&filterByPhases=Failed")[1]["values"][0]["value"] == "0"


def test_pods_of_all_visible_workloads_are_listed(
    call: Caller, stranger: Caller, measured: Workload
) -> None:
    names = [
        it["name"] for it in call("GET", "/workloads/pods?filterBy=k8sPhase==Running")[1]["pods"]
    ]
    assert len(names) == measured.num_pods
    assert stranger("GET", "/workloads/pods")[1]["pods"] == []
    assert stranger("GET", "/workloads/pods/count")[1] == {"count": 0}
    assert call("GET", "/workloads/pods?completed=true")[1]["pods"] == []
