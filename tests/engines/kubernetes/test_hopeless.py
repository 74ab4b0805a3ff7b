"""A job whose data cannot be fetched ends, and says why."""

from contextlib import closing
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pytest

from engines.base import Launch, Observation
from engines.kubernetes.client.api import Api
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.hopeless import HopelessJobs, fetches_data
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.kueue.door import Kueue
from engines.kubernetes.labels import GAVE_UP, PROJECT, STOPPED_RUN, is_our_job
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.names import job_name
from engines.kubernetes.status.job import JobView
from engines.kubernetes.watch.snapshot import Snapshot
from engines.kubernetes.watch.watcher import PODS
from spec.data.storage import Git, Storage
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from spec.workload import Architecture
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.objects import START, WAITS, pod
from tests.engines.reading import listed
from tests.waiting import wait_for

MISSING = "Cloning into '/src'...\nfatal: repository 'https://example.com/none/' not found\n"
FAILED = {"exitCode": 128, "finishedAt": START.isoformat(), "message": MISSING}
BACK_OFF = {
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": FAILED},
}
AGAIN = {"state": {"running": {}}, "lastState": {"terminated": FAILED}}
ENDED = {"state": {"terminated": FAILED}}


def look(
    *, limit: int, restarts: int, state: dict[str, Any], name: str = "fetch-git-0", why: str = ""
) -> JobView:
    status = {"initContainerStatuses": [{"name": name, "restartCount": restarts, **state}]}
    waits = pod("worker", 0, phase="Pending", container=WAITS, status=status)
    job = {
        "metadata": {
            "uid": "job",
            "labels": {"trainyard.io/workload": "8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10"},
            "annotations": {GAVE_UP: why} if why else {},
            "resourceVersion": "10",
            "creationTimestamp": START.isoformat(),
        },
        "spec": {
            "runPolicy": {"suspend": bool(why), "backoffLimit": limit},
            PYTORCH.replicas: {"Worker": {"replicas": 1}},
        },
    }
    return JobView.from_objects(PYTORCH, job, [waits])


@pytest.mark.parametrize(
    ("limit", "restarts", "state", "over"),
    [
        (2, 1, BACK_OFF, False),
        (2, 2, AGAIN, False),
        (2, 2, ENDED, True),
        (2, 2, BACK_OFF, True),
        (2, 5, AGAIN, True),
        (0, 5, BACK_OFF, False),  # its pods fail by themselves
    ],
)
def test_a_fetch_is_hopeless_after_as_many_restarts_as_the_limit(
    limit: int, restarts: int, state: dict[str, Any], over: bool
) -> None:
    assert bool(look(limit=limit, restarts=restarts, state=state).fetch_failure) is over


def test_the_cause_and_the_end_say_what_git_said() -> None:
    waiting = look(limit=2, restarts=2, state=BACK_OFF)
    cause = waiting.observation().cause
    assert cause
    assert cause.kind is CauseKind.DATA
    assert cause.said == "fatal: repository 'https://example.com/none/' not found"
    assert waiting.fetch_failure == (
        "worker-0 (rank 0) did not start: fetch-git-0 exited with code 128: "
        "fatal: repository 'https://example.com/none/' not found. Tried 3 times."
    )


def test_an_init_container_of_others_never_makes_a_job_hopeless() -> None:
    assert not look(limit=1, restarts=9, state=BACK_OFF, name="init-pytorch").fetch_failure


def test_a_job_of_somebody_else_with_our_label_fetches_nothing() -> None:
    odd: dict[str, Any] = {"metadata": {}, "spec": {"pytorchReplicaSpecs": {"Worker": {}}}}
    assert not fetches_data(Snapshot(kind=PYTORCH, job=odd))


def test_a_job_that_was_given_up_failed_and_was_not_stopped() -> None:
    seen = look(limit=2, restarts=2, state=BACK_OFF, why="no data").observation()
    assert (seen.phase, seen.reason, seen.message) == (Phase.FAILED, Reason.RANK_FAILED, "no data")


class Server:
    """What it is asked for is kept, and done for nobody."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def merge(self, path: str, body: dict[str, Any]) -> None:
        self.asked.append(body)


def test_a_job_that_was_given_up_and_is_resumed_is_suspended_again() -> None:
    job = look(limit=2, restarts=0, state={}, why="no data").manifest
    job["spec"]["runPolicy"]["suspend"] = False
    job["metadata"] |= {"namespace": "a", "name": "b"}
    server = Server()
    snapshot = Snapshot.read(PYTORCH, job, (), upto=10)
    uid = uuid4()
    hopeless = HopelessJobs(cast(Api, server), Kueue(cast(Api, server)))
    hopeless.on_change(uid, snapshot)
    (event,) = hopeless.stop()
    assert (event.workload_id, event.reason) == (uid, "Resumed")
    (asked,) = server.asked
    assert asked["spec"] == {"runPolicy": {"suspend": True}}
    assert asked["metadata"]["annotations"] == {GAVE_UP: "no data", STOPPED_RUN: "1"}
    assert not hopeless.stop()
    snapshot.take_job(
        PYTORCH, "MODIFIED", look(limit=2, restarts=0, state={}, why="no data").manifest
    )
    hopeless.on_change(uid, snapshot)
    assert not hopeless.stop()


@pytest.mark.parametrize(
    ("namespace", "ours"),
    [("a-team", True), ("a-b-team", False), ("b-team", False), ("team", False), ("a-", False)],
)
def test_whose_a_job_is_its_namespace_tells(namespace: str, ours: bool) -> None:
    job = {"metadata": {"namespace": namespace, "labels": {PROJECT: "team"}}}
    assert is_our_job("a-", job) is ours


def without_data(rig: KubernetesRig, limit: int) -> Launch:
    """The image has a shell and no git, as good a reason as any."""
    rig.engine = KubernetesEngine(rig.account, prefix=PREFIX, images=Images(git=SHELL_IMAGE))
    fields = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 2}
    launched = rig.shell("true", backoff_limit=limit, **fields)
    git = Git(repository="https://example.com/train.git", path="/src")
    worker = launched.spec.worker.model_copy(update={"storage": Storage(git=(git,))})
    return rig.submit(replace(launched, spec=launched.spec.model_copy(update={"worker": worker})))


@pytest.mark.kubernetes
def test_the_job_ends_for_everyone_who_looks(rig: KubernetesRig) -> None:
    launched = without_data(rig, limit=1)
    told: list[Observation] = []

    def ask() -> bool:
        seen = next(watch)
        if seen and seen.workload_id == launched.handle.workload_id:
            told.append(seen)
        return bool(told) and told[-1].phase is Phase.FAILED

    path = PYTORCH.path(f"{PREFIX}{launched.handle.project}", job_name(launched.handle))
    resume = {"spec": {"runPolicy": {"suspend": False}}}

    def is_told() -> bool:
        ask()
        return any(event.reason == "Resumed" for event in rig.engine.events())

    with closing(rig.engine.watch()) as watch:
        wait_for(ask, 240, "the job to be given up", every=0)
        rig.api.merge(path, resume)
        wait_for(is_told, 60, "the resumption to be told", every=0)
    assert rig.api.get(path)["spec"]["runPolicy"]["suspend"]
    assert {seen.phase for seen in told} <= {Phase.PENDING, Phase.INITIALIZING, Phase.FAILED}
    message = told[-1].message
    assert "did not start: fetch-git-0 exited with code 127" in message
    assert "Tried 2 times." in message
    causes = [seen.cause for seen in told if seen.cause]
    assert any("git: not found" in cause.said for cause in causes)
    wait_for(lambda: not rig.mine(PODS), 60, "the pods of the resumption to go")
    later = KubernetesEngine(rig.account, prefix=PREFIX).observe(launched.handle)
    assert later
    assert (later.phase, later.message) == (Phase.FAILED, message)


@pytest.mark.kubernetes
def test_a_hopeless_job_is_left_alone_by_another_trainyard_on_the_cluster(
    rig: KubernetesRig,
) -> None:
    launched = without_data(rig, limit=1)
    path = PYTORCH.path(f"{PREFIX}{launched.handle.project}", job_name(launched.handle))
    other = KubernetesEngine(rig.account, prefix="trainyard-")

    def is_hopeless() -> bool:
        next(watch)
        seen = other._watcher.snapshots if other._watcher else {}
        snapshot = seen.get(launched.handle.workload_id)
        return bool(snapshot and snapshot.job_view and snapshot.job_view.fetch_failure)

    with closing(other.watch()) as watch:
        listed(watch)
        wait_for(is_hopeless, 240, "the other one to see that it is hopeless", every=0)
        for _ in range(3):  # looks, after which it would have acted
            listed(watch)
        assert other.logs(launched.handle, run=1) == []
    assert not rig.api.get(path)["spec"]["runPolicy"]["suspend"]
