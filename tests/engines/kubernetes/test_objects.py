"""What a workload has beside its job, on a real cluster: volumes, a Secret, a launcher."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from engines.base import EngineUnavailable, Launch
from engines.kubernetes import objects
from engines.kubernetes.jobs import MPI, PYTORCH
from engines.kubernetes.manifests.pod.volumes import claims
from engines.kubernetes.names import job_name, secret_name
from spec.data.storage import Storage
from spec.framework import Framework
from spec.phases import Phase, RankPhase
from spec.workload import Architecture, Replica
from tests.engines.kubernetes.conftest import PREFIX, SPACE, KubernetesRig
from tests.engines.kubernetes.reading_watch import changes
from tests.engines.reading import printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
CLAIMS = "persistentvolumeclaims"
ONE = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}
SIZE = {"size": "1M"}
TWO_VOLUMES = {
    "pvc": [
        {"path": "/data", "claimInfo": SIZE},
        {"path": "/scratch", "claimInfo": SIZE, "ephemeral": True},
    ]
}
LOOK = (
    "for d in data scratch; do [ -e /$d/was ] && echo $d kept || echo $d new; touch /$d/was; done"
)


def with_worker(launched: Launch, **fields: Any) -> Launch:
    worker = launched.spec.worker.model_copy(update=fields)
    return replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))


def with_variable(launched: Launch, name: str, value: str) -> Launch:
    variables = Replica.model_validate(
        {"image": "i", "environmentVariables": [{"name": name, "value": value}]}
    ).environment_variables
    return with_worker(launched, environment_variables=variables)


def names(rig: KubernetesRig, plural: str) -> set[str]:
    """Of the objects in the namespace of the tests that are not leaving."""
    found = rig.api.items(f"{SPACE}/{plural}")
    return {it["metadata"]["name"] for it in found if not it["metadata"].get("deletionTimestamp")}


def log(rig: KubernetesRig, launched: Launch, rank: int = 0) -> str:
    """What a rank printed; a pod that has just started may not have printed yet."""
    return printed(rig.engine, launched, rank, until=b"\n").decode()


def test_a_launcher_reaches_its_workers(rig: KubernetesRig) -> None:
    script = "cat /etc/mpi/hostfile; echo $RUNAI_MPI_NUM_WORKERS"
    launched = rig.shell("exec sleep 600", distributed_framework=Framework.MPI, num_workers=2)
    launcher = rig.shell(script).spec.worker
    spec = launched.spec.model_copy(update={"master": launcher, "slots_per_worker": 3})
    launched = rig.submit(replace(launched, spec=spec))
    seen = rig.over(launched)
    assert seen.phase is Phase.COMPLETED
    assert [str(rank.role) for rank in seen.ranks] == ["master", "worker", "worker"]
    assert (seen.ranks[0].phase, seen.ranks[0].exit_code) == (RankPhase.SUCCEEDED, 0)
    lines = log(rig, launched).splitlines()
    assert lines[0].startswith(f"{job_name(launched.handle)}-worker-0.")
    assert lines[0].endswith("slots=3")
    assert lines[-1] == "2"


def test_a_launcher_that_fails_ends_at_its_backoff_limit(rig: KubernetesRig) -> None:
    worker = rig.shell("exec sleep 600", distributed_framework=Framework.MPI, backoff_limit=1)
    spec = worker.spec.model_copy(update={"master": rig.shell("exit 4").spec.worker})
    launched = replace(worker, spec=spec)
    with closing(rig.engine.watch()) as watch:
        rig.submit(launched)
        told = changes(watch, launched)
        seen = next(seen for seen in told if seen.phase is Phase.FAILED)
    assert seen.message == "master-0 (rank 0) exited with code 4."
    assert (seen.ranks[0].phase, seen.ranks[0].exit_code) == (RankPhase.FAILED, 4)


def test_an_mpi_workload_stops_and_runs_again(rig: KubernetesRig) -> None:
    launched = rig.shell("exec sleep 600", distributed_framework=Framework.MPI)
    spec = launched.spec.model_copy(update={"master": launched.spec.worker})
    launched = rig.submit(replace(launched, spec=spec))
    rig.seen(launched, Phase.RUNNING)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    rig.seen(rig.submit(replace(launched, run=2)), Phase.RUNNING)
    rig.engine.delete(launched.handle)
    path = MPI.path(f"{PREFIX}team-a", job_name(launched.handle))
    wait_for(lambda: rig.api.find(path) is None, 60, "the job to be gone")


def test_volumes_through_stop_run_and_delete(rig: KubernetesRig) -> None:
    rig_shell = rig.shell(f"{LOOK}; exec sleep 600", **ONE)
    launched = with_worker(rig_shell, storage=Storage.model_validate(TWO_VOLUMES))
    persistent, ephemeral = (
        f"{job_name(launched.handle)}-worker-volume-{number}" for number in (0, 1)
    )
    rig.submit(launched)
    rig.seen(launched, Phase.RUNNING)
    assert log(rig, launched) == "data new\nscratch new\n"
    assert names(rig, CLAIMS) == {persistent, ephemeral}
    rig.engine.stop(launched.handle, run=1)
    rig.seen(launched, Phase.STOPPED)
    gone = f"{SPACE}/{CLAIMS}/{ephemeral}"
    wait_for(lambda: rig.api.find(gone) is None, 60, "the ephemeral claim to be gone")
    again = rig.submit(replace(launched, run=2))
    rig.seen(again, Phase.RUNNING)
    assert log(rig, again) == "data kept\nscratch new\n"
    rig.engine.delete(launched.handle)
    wait_for(lambda: not rig.mine("/api/v1/persistentvolumeclaims"), 60, "all claims to be gone")


@pytest.fixture
def strangers(rig: KubernetesRig) -> Iterator[set[str]]:
    """A Secret and a claim of somebody else, in the namespace of the project."""
    made = []
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1M"}}}
    for plural, item in (
        ("secrets", {"kind": "Secret", "stringData": {"a": "b"}}),
        ("persistentvolumeclaims", {"kind": "PersistentVolumeClaim", "spec": claim}),
    ):
        rig.keep(plural, "theirs", item)
        made.append(plural)
    yield {"theirs"}
    for plural in made:
        rig.api.delete(f"{SPACE}/{plural}/theirs")


def test_a_value_that_looks_secret_reaches_the_program_and_no_other(
    rig: KubernetesRig, strangers: set[str]
) -> None:
    """Not even another variable is put into it, as Kubernetes does with a plain value."""
    launched = with_variable(rig.shell("echo $API_TOKEN", **ONE), "API_TOKEN", "s3cr3t$(RANK)")
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched) == "s3cr3t$(RANK)\n"
    job = rig.api.get(PYTORCH.path(f"{PREFIX}team-a", job_name(launched.handle)))
    assert "s3cr3t" not in str(job)
    assert "s3cr3t" not in str(rig.engine.render(launched))
    rig.engine.delete(launched.handle)
    assert secret_name(launched) not in names(rig, "secrets")
    assert strangers <= names(rig, "secrets")
    assert strangers <= names(rig, "persistentvolumeclaims")


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_submission_that_was_cut_short_is_taken_up(
    rig: KubernetesRig, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    launched = with_worker(rig.shell("true", **ONE), storage=Storage.model_validate(TWO_VOLUMES))
    launched = with_variable(launched, "TOKEN", "x")
    made: list[str] = []
    make = objects.create_object

    def cut(api: Any, item: dict[str, Any]) -> None:
        if len(made) == step:
            raise EngineUnavailable("cut")
        make(api, item)
        made.append(item["kind"])

    monkeypatch.setattr(objects, "create_object", cut)
    with pytest.raises(EngineUnavailable, match="cut"):
        rig.engine.submit(launched)
    assert rig.engine.observe(launched.handle) is None
    monkeypatch.undo()
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert len(rig.mine(PYTORCH.cluster_path)) == 1
    assert len(names(rig, CLAIMS)) == 2


def test_a_claim_that_still_leaves_is_waited_for(rig: KubernetesRig) -> None:
    launched = with_worker(
        rig.shell("exec sleep 600", **ONE), storage=Storage.model_validate(TWO_VOLUMES)
    )
    rig.submit(launched)
    rig.seen(launched, Phase.RUNNING)
    objects.remove_claims(rig.api, launched.handle, f"{PREFIX}team-a")  # its pod holds on
    claim = claims(launched, f"{PREFIX}team-a")[0]
    with pytest.raises(EngineUnavailable, match="still being deleted"):
        objects.create_object(rig.api, claim)
