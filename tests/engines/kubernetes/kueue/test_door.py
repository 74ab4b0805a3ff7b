"""How a job of Kueue is stopped, given up and run again: what is written, and where. No cluster."""

from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pytest

from engines.base import EngineUnavailable, Handle, Launch, Manifest
from engines.kubernetes.client.api import Api, Denied
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.hopeless import HopelessJobs
from engines.kubernetes.jobs import PLAIN_JOB, PYTORCH, JobKind
from engines.kubernetes.kueue.door import Kueue
from engines.kubernetes.kueue.names import KUEUE, workloads_path
from engines.kubernetes.labels import GAVE_UP, RUN, STOPPED_RUN
from engines.kubernetes.names import job_name
from engines.kubernetes.watch.snapshot import Snapshot
from spec.kind import WorkloadKind
from tests.engines.contract import launch
from tests.engines.kubernetes.kueue.queue_entries import (
    DEACTIVATED,
    UID,
    WAITS,
    admitted,
    entry,
    job,
)

HANDLE = Handle(UID, "demo", "a")
NAME = entry()["metadata"]["name"]
ENTRY_PATH = workloads_path("v1beta2", "team-a", NAME)
DEACTIVATION = (ENTRY_PATH, {"spec": {"active": False}})
BOTH_KINDS = pytest.mark.parametrize("kind", [PYTORCH, PLAIN_JOB], ids=["PyTorchJob", "Job"])


class Server:
    """An API server with one job and Kueue's Workloads of it, that remembers what is written."""

    def __init__(self, kind: JobKind, item: Manifest, *entries: Manifest) -> None:
        self.kind = kind
        self.job = item
        self.entries = list(entries)
        self.may_read_queue = True
        self.merged: list[tuple[str, Manifest]] = []
        self.deleted: list[str] = []

    def get(self, path: str, **query: object) -> dict[str, Any]:
        if path == "/apis":
            return {"groups": [{"name": KUEUE, "versions": [{"version": "v1beta2"}]}]}
        if "items" in path or path.endswith(("/pods", "/jobs")):
            return {"items": [], "metadata": {"resourceVersion": "50"}}
        return {"resources": [{"name": PYTORCH.plural}] if path.endswith("/v1") else []}

    def find(self, path: str) -> Manifest | None:
        return self.job if f"/{self.kind.plural}/" in path else None

    def items(self, path: str, **query: str) -> list[Manifest]:
        if KUEUE not in path:
            return []
        if not self.may_read_queue:
            raise Denied("no")
        return self.entries

    def merge(self, path: str, body: Manifest) -> None:
        self.merged.append((path, body))

    def delete(self, path: str, **query: str) -> None:
        self.deleted.append(path)

    @property
    def engine(self) -> KubernetesEngine:
        return KubernetesEngine(cast(Api, self), prefix="team-")


@BOTH_KINDS
def test_a_stop_deactivates_the_workload_of_kueue_and_nothing_else(kind: JobKind) -> None:
    server = Server(kind, job(kind, suspend=False), admitted())
    server.engine.stop(HANDLE, run=1)
    assert server.merged == [DEACTIVATION]
    server.entries = [entry(DEACTIVATED, active=False)]
    server.engine.stop(HANDLE, run=1)
    assert server.merged == [DEACTIVATION], "it is stopped already"


@BOTH_KINDS
def test_a_stop_waits_until_kueue_has_made_its_workload(kind: JobKind) -> None:
    server = Server(kind, job(kind, suspend=True))
    with pytest.raises(EngineUnavailable, match="take up the job"):
        server.engine.stop(HANDLE, run=1)
    assert server.merged == []


@BOTH_KINDS
def test_a_job_outside_its_queue_is_suspended_with_a_mark(kind: JobKind) -> None:
    server = Server(kind, job(kind, suspend=False))
    server.engine.stop(HANDLE, run=1)
    ((_, patch),) = server.merged
    assert patch["metadata"]["annotations"] == {STOPPED_RUN: "1"}
    assert patch["spec"] in ({"suspend": True}, {"runPolicy": {"suspend": True}})


def test_a_job_that_may_be_kueues_is_not_suspended_unread() -> None:
    server = Server(PYTORCH, job(suspend=False), admitted())
    server.may_read_queue = False
    with pytest.raises(EngineUnavailable):
        server.engine.stop(HANDLE, run=1)
    assert server.merged == []
    server.job = job(suspend=False, queue="")
    server.engine.stop(HANDLE, run=1)
    assert len(server.merged) == 1, "a job without a queue is stopped all the same"


@BOTH_KINDS
def test_a_job_of_kueue_is_given_up_through_its_workload(kind: JobKind) -> None:
    item = job(kind, suspend=False, annotations={GAVE_UP: "no data"})
    server = Server(kind, item, admitted())
    snapshot = Snapshot.read(kind, item, (), upto=50, has_kueue=True, queue_entries=server.entries)
    api = cast(Api, server)
    kueue = Kueue(api)
    hopeless = HopelessJobs(api, kueue)
    hopeless.on_change(uuid4(), snapshot)
    assert hopeless.stop() == [], "nobody activated it"
    (_, note), deactivation = server.merged
    assert note == {"metadata": {"annotations": {GAVE_UP: "no data"}}}
    assert deactivation == DEACTIVATION


@pytest.fixture(params=["gang", "single"])
def launched(request: pytest.FixtureRequest) -> Launch:
    found = replace(launch("true"), handle=HANDLE, run=2)
    if request.param == "single":
        spec = found.spec.model_copy(
            update={"kind": WorkloadKind.TRAINING, "distributed_framework": None}
        )
        found = replace(found, spec=spec)
    return found


def test_a_job_that_somebody_activated_only_gets_its_run_noted(launched: Launch) -> None:
    kind = PYTORCH if launched.spec.kind.is_gang else PLAIN_JOB
    item = job(kind, suspend=True)
    item["metadata"]["name"] = job_name(HANDLE)
    server = Server(kind, item, entry(WAITS))
    assert not server.engine._submitter._may_take_over(launched, kind, item)
    ((path, patch),) = server.merged
    assert path.endswith(f"{kind.plural}/{job_name(HANDLE)}")
    assert patch == {"metadata": {"annotations": {RUN: "2"}}}
    assert not server.deleted


def test_a_stopped_job_of_kueue_is_replaced_and_never_written_over(launched: Launch) -> None:
    kind = PYTORCH if launched.spec.kind.is_gang else PLAIN_JOB
    item = job(kind, suspend=True)
    server = Server(kind, item, entry(DEACTIVATED, active=False))
    submitter = server.engine._submitter
    if kind is PYTORCH:
        with pytest.raises(EngineUnavailable, match="being deleted"):
            submitter._may_take_over(launched, kind, item)
    else:
        assert submitter._may_take_over(launched, kind, item)
    assert [path.rpartition("/")[2] for path in server.deleted] == [job_name(HANDLE)]
    assert server.merged == []
