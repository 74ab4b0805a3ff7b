"""Gangs that Kubernetes itself runs, on a real cluster: named roles, and PyTorch as where its
operator is missing. No test needs an operator."""

import shlex
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from engines.base import EngineUnavailable, Handle, Launch, Manifest, Site
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.jobs import PLAIN_JOB, PYTORCH, is_suspended
from engines.kubernetes.labels import RANK
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.names import job_name
from engines.kubernetes.watch.watcher import PODS
from spec.formats import documents
from spec.framework import Framework
from spec.phases import Phase, RankPhase, Reason
from tests.cluster import SHELL_IMAGE
from tests.engines.contract import EngineContract
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.reading import printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
WITHOUT = Site(plain_frameworks=frozenset({Framework.PYTORCH}))
ONCE = {"backoffLimit": 0, "terminationGracePeriodSeconds": 1}


@pytest.fixture
def rig(rig: KubernetesRig) -> KubernetesRig:
    images = Images(shell=SHELL_IMAGE)
    rig.engine = KubernetesEngine(rig.account, prefix=PREFIX, images=images)
    return rig


class PlainRig(KubernetesRig):
    """The same programs, on a cluster that has no operator."""

    def shell(self, script: str, **fields: Any) -> Launch:
        return replace(super().shell(script, **fields), site=WITHOUT)


class TestEqualPods(EngineContract):
    """The contract of all engines."""

    @pytest.fixture
    def rig(self, rig: KubernetesRig) -> PlainRig:
        return PlainRig(rig.api, rig.account)


def runs(script: str) -> dict[str, Any]:
    return {"image": SHELL_IMAGE, "command": f"/bin/sh -c {shlex.quote(script)}"}


def gang(*roles: dict[str, Any], **whole: Any) -> Launch:
    spec = documents.load_spec({"roles": list(roles), **ONCE, **whole})
    return Launch(Handle(uuid4(), "gang", "team-a"), 1, spec)


def role(name: str, script: str, **fields: Any) -> dict[str, Any]:
    return runs(script) | {"name": name, **fields}


def log(rig: KubernetesRig, launched: Launch, rank: int) -> str:
    return printed(rig.engine, launched, rank).decode()


def jobs(rig: KubernetesRig) -> list[Manifest]:
    return rig.mine(PLAIN_JOB.cluster_path)


def is_accepted(rig: KubernetesRig, launched: Launch) -> bool:
    with suppress(EngineUnavailable):
        rig.engine.submit(launched)
        return True
    return False


def watching(rig: KubernetesRig) -> Generator[None]:
    """Yield while a worker watches, which keeps the ranks of a gang together."""
    with closing(rig.engine.watch()) as watch:
        for _ in watch:
            yield


def test_equal_ranks_find_their_master_by_the_variables_of_the_operator(
    rig: KubernetesRig,
) -> None:
    meet = 'until ping -c1 -W1 "$MASTER_ADDR" >/dev/null 2>&1; do sleep 1; done'
    script = f"echo $RANK of $WORLD_SIZE, $PET_NODE_RANK of $PET_NNODES; {meet}; echo met"
    launched = replace(rig.shell(script, num_workers=2), site=WITHOUT)
    launched = rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched, 0) == "0 of 3, 0 of 3\nmet\n"


def test_a_master_with_a_setup_of_its_own_is_rank_0_of_all(rig: KubernetesRig) -> None:
    script = "echo $RANK of $WORLD_SIZE at $MASTER_ADDR"
    spec = documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "numWorkers": 2,
            "worker": runs(f"{script}; exec sleep 60"),
            "master": runs(f"sleep 3; {script}"),
            **ONCE,
        }
    )
    launched = rig.submit(Launch(Handle(uuid4(), "gang", "team-a"), 1, spec, site=WITHOUT))
    assert rig.over(launched).phase is Phase.COMPLETED
    at = f"master.{job_name(launched.handle)}"
    assert log(rig, launched, 0) == f"0 of 3 at {at}\n"
    assert log(rig, launched, 2) == f"2 of 3 at {at}\n"


def test_named_roles_find_each_other_by_their_bare_names(rig: KubernetesRig) -> None:
    serve = "echo hello > /tmp/index; nc -l -p 8000 < /tmp/index"
    ask = "until nc -w 2 server 8000 </dev/null 2>/dev/null | grep hello; do sleep 1; done"
    launched = rig.submit(
        gang(role("server", serve), role("client", ask, leads=True), role("idle", "sleep 600"))
    )
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched, 1) == "hello\n"


def test_when_the_lead_has_ended_the_others_are_removed(rig: KubernetesRig) -> None:
    launched = rig.submit(
        gang(role("server", "exec sleep 600", count=2), role("client", "sleep 2", leads=True))
    )
    turns = watching(rig)

    def is_quiet() -> bool:
        next(turns)
        followers = [job for job in jobs(rig) if job["metadata"]["labels"][RANK] != "2"]
        running = [pod for pod in rig.mine(PODS) if pod["status"]["phase"] == "Running"]
        return len(followers) == 2 and all(map(is_suspended, followers)) and not running

    wait_for(is_quiet, 60, "the followers to be removed", every=0.1)
    seen = rig.engine.observe(launched.handle)
    assert seen
    assert seen.phase is Phase.COMPLETED
    turns.close()


def test_a_rank_that_fails_ends_its_gang(rig: KubernetesRig) -> None:
    launched = rig.submit(
        gang(role("server", "exec sleep 600", leads=True), role("client", "exit 3"))
    )
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert seen.message == "client-0 (rank 1) exited with code 3."
    turns = watching(rig)

    def is_quiet() -> bool:
        next(turns)
        return not [pod for pod in rig.mine(PODS) if pod["status"]["phase"] == "Running"]

    wait_for(is_quiet, 60, "the lead to be ended", every=0.1)
    turns.close()
    again = rig.engine.observe(launched.handle)
    assert again
    assert (again.phase, again.message) == (Phase.FAILED, seen.message)
    assert again.ranks[1].exit_code == 3


def test_a_failed_rank_that_is_ignored_leaves_the_others_running(rig: KubernetesRig) -> None:
    launched = rig.submit(
        gang(
            role("server", "sleep 8", leads=True),
            role("client", "exit 3"),
            ignoreNonLeadStatus=True,
        )
    )
    seen = rig.over(launched)
    assert seen.phase is Phase.COMPLETED
    assert [rank.phase for rank in seen.ranks] == [RankPhase.SUCCEEDED, RankPhase.FAILED]


def test_a_gang_stops_runs_again_and_is_deleted_as_one(rig: KubernetesRig) -> None:
    launched = rig.submit(
        gang(role("server", "exec sleep 600", leads=True), role("client", "exec sleep 600"))
    )
    rig.seen(launched, Phase.RUNNING)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert all(map(is_suspended, jobs(rig)))
    again = replace(launched, run=2)
    wait_for(lambda: is_accepted(rig, again), 60, "the jobs of the run before to be gone")
    assert rig.seen(again, Phase.RUNNING).run == 2
    rig.engine.delete(launched.handle)
    wait_for(lambda: not rig.mine(PODS) and not jobs(rig), 60, "all of it to be gone")
    services = f"/api/v1/namespaces/{PREFIX}team-a/services/{job_name(launched.handle)}"
    assert rig.api.find(services) is None


def test_a_run_takes_the_operator_that_was_installed_since_the_one_before(
    rig: KubernetesRig,
) -> None:
    if PYTORCH not in rig.kinds:
        pytest.skip("this cluster has no PyTorchJob")
    launched = rig.submit(replace(rig.endless(), site=WITHOUT))
    rig.seen(launched, Phase.RUNNING)
    rig.engine.stop(launched.handle, run=1)
    rig.over(launched)
    again = replace(launched, run=2, site=Site())
    wait_for(lambda: is_accepted(rig, again), 60, "the job of the run before to be gone")
    assert rig.seen(again, Phase.RUNNING).run == 2
    assert (len(jobs(rig)), len(rig.mine(PYTORCH.cluster_path))) == (0, 1)


def test_a_submission_that_was_interrupted_creates_the_ranks_that_are_missing(
    rig: KubernetesRig,
) -> None:
    launched = rig.submit(
        gang(role("server", "exec sleep 600", leads=True), role("client", "exec sleep 600"))
    )
    (follower,) = [job for job in jobs(rig) if job["metadata"]["labels"][RANK] == "1"]
    name = follower["metadata"]["name"]
    rig.api.delete(PLAIN_JOB.path(f"{PREFIX}team-a", name), propagationPolicy="Background")
    rig.engine.submit(launched)
    assert rig.seen(launched, Phase.RUNNING)
    assert len(jobs(rig)) == 2
