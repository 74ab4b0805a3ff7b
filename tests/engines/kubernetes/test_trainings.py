"""One pod without a framework on a real cluster: a Job of its own, or one of an operator."""

import json
import shlex
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from engines.base import EngineUnavailable, Handle, Launch, Manifest, Registry
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.names import job_name, pull_secret_name, secret_name
from engines.kubernetes.watch.watcher import PODS
from spec.formats import documents
from spec.kind import WorkloadKind
from spec.phases import Phase, RankPhase, Reason
from spec.values.variable import CredentialKey, EnvironmentVariable
from spec.workload import Role
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.reading import printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
OLD = "tr41n-l1ke-nobody-reads"
NEW = "and-th3-n3xt-day-another"


def training(script: str, **whole: Any) -> Launch:
    worker = {"image": SHELL_IMAGE, "command": f"/bin/sh -c {shlex.quote(script)}"}
    once = {"backoffLimit": 0, "terminationGracePeriodSeconds": 1}
    spec = documents.load_spec({"kind": "training", "worker": worker, **once, **whole})
    return Launch(Handle(uuid4(), "alone", "team-a"), 1, spec)


def test_a_training_runs_to_its_end_as_the_one_worker(rig: KubernetesRig) -> None:
    launched = rig.submit(training("echo $PET_NPROC_PER_NODE process"))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.COMPLETED, Reason.NONE)
    (rank,) = seen.ranks
    assert (rank.role, rank.index, rank.phase) == (Role.WORKER, 0, RankPhase.SUCCEEDED)
    assert printed(rig.engine, launched) == b"1 process\n"
    assert rig.mine(PLAIN_JOB.cluster_path)


def test_a_deadline_of_the_cluster_includes_the_wait(
    rig: KubernetesRig,
) -> None:
    """Why Trainyard counts itself, as the documentation says."""
    launched = training("true")
    worker = launched.spec.worker.model_copy(update={"node_type": "nowhere"})
    spec = launched.spec.model_copy(update={"worker": worker})
    launched = rig.submit(replace(launched, spec=spec))
    job = PLAIN_JOB.path(f"{PREFIX}team-a", job_name(launched.handle))
    # A controller that has not begun with the job yet looks at a deadline that comes then no more.
    wait_for(lambda: rig.api.get(job).get("status", {}).get("startTime"), 60, "its start")
    rig.api.merge(job, {"spec": {"activeDeadlineSeconds": 2}})
    seen = rig.over(launched)
    assert (seen.phase, seen.ranks[0].node) == (Phase.FAILED, "")
    assert "deadline" in seen.message


def test_a_pod_that_reaches_a_deadline_of_its_own_is_started_again(rig: KubernetesRig) -> None:
    """Another reason."""
    launched = rig.submit(training("exec sleep 600", backoffLimit=1))
    rig.seen(launched, Phase.RUNNING)
    (first,) = rig.mine(PODS)
    path = f"/api/v1/namespaces/{PREFIX}team-a/pods/{first['metadata']['name']}"
    rig.api.merge(path, {"spec": {"activeDeadlineSeconds": 1}})

    def another_runs() -> bool:
        others = [it for it in rig.mine(PODS) if it["metadata"]["uid"] != first["metadata"]["uid"]]
        return any(it["status"]["phase"] == "Running" for it in others)

    wait_for(another_runs, 60, "another pod to run")
    assert rig.api.get(path)["status"]["reason"] == "DeadlineExceeded"


def test_a_training_that_fails_says_how(rig: KubernetesRig) -> None:
    seen = rig.over(rig.submit(training("exit 3")))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert seen.message.startswith("worker-0 (rank 0) exited with code 3")
    assert [rank.exit_code for rank in seen.ranks] == [3]


def test_a_training_is_tried_again_up_to_its_backoff_limit(rig: KubernetesRig) -> None:
    launched = rig.submit(training("echo try; sleep 1; exit 5", backoffLimit=1))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert "exited with code 5" in seen.message


def test_a_training_stops_and_runs_again_with_a_new_credential(
    rig: KubernetesRig,
) -> None:
    launched = rig.submit(with_token(training("echo $TOKEN; exec sleep 600"), OLD))
    rig.seen(launched, Phase.RUNNING)
    session = rig.engine.exec(launched.handle, rank=0, argv=["true"])
    session.close()
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    again = rig.submit(replace(with_token(launched, NEW), run=2))
    assert rig.seen(again, Phase.RUNNING).run == 2
    assert printed(rig.engine, again, until=b"\n") == f"{NEW}\n".encode()
    assert holding(rig.api, OLD) == set()
    own = {("secrets", secret_name(launched)), ("secrets", pull_secret_name(launched))}
    assert holding(rig.api, NEW) == own
    rig.engine.delete(launched.handle)
    assert rig.engine.observe(launched.handle) is None
    assert holding(rig.api, NEW) == set()


def test_a_training_whose_pod_is_evicted_gets_another_one(rig: KubernetesRig) -> None:
    launched = rig.submit(training("exec sleep 600"))
    rig.seen(launched, Phase.RUNNING)
    (pod,) = rig.mine(PODS)
    name = pod["metadata"]["name"]
    space = pod["metadata"]["namespace"]
    eviction = {"kind": "Eviction", "metadata": {"name": name, "namespace": space}}
    path = f"/api/v1/namespaces/{space}/pods/{name}/eviction"
    rig.api.create(path, {"apiVersion": "policy/v1beta1", **eviction})

    def is_another() -> bool:
        return {pod["metadata"]["name"] for pod in rig.mine(PODS)} - {name} != set()

    wait_for(is_another, 30, "another pod")
    assert rig.seen(launched, Phase.RUNNING).run == 1


def with_token(launched: Launch, value: str) -> Launch:
    """Its program has the value of a credential as ``TOKEN``, and its images come with it."""
    at = CredentialKey(asset_id=UUID(int=1), name="hub", key="token")
    variables = (EnvironmentVariable(name="TOKEN", credential=at),)
    worker = launched.spec.worker.model_copy(update={"environment_variables": variables})
    spec = launched.spec.model_copy(update={"worker": worker})
    pulls = (Registry("registry.example.com", "ada", value),)
    return replace(launched, spec=spec, secrets={UUID(int=1): {"token": value}}, registries=pulls)


def holding(api: Api, value: str) -> set[tuple[str, str]]:
    """Plural and name of each object of the project's namespace, events among them, that has it."""
    return {
        (plural, item["metadata"]["name"])
        for folder, plural in listable(api)
        for item in api.items(f"{folder}/namespaces/{PREFIX}team-a/{plural}")
        if value in json.dumps(item) or (plural == "secrets" and value in decoded(item))
    }


def decoded(secret: Manifest) -> str:
    return "".join(
        b64decode(text).decode(errors="replace") for text in secret.get("data", {}).values()
    )


def listable(api: Api) -> Iterator[tuple[str, str]]:
    """Every kind of object that a namespace can hold."""
    groups = [group["preferredVersion"]["groupVersion"] for group in api.get("/apis")["groups"]]
    for folder in ("/api/v1", *(f"/apis/{group}" for group in groups)):
        for kind in api.get(folder)["resources"]:
            if kind["namespaced"] and "list" in kind["verbs"]:
                yield folder, kind["name"]


def test_a_workspace_whose_program_ended_runs_again(rig: KubernetesRig) -> None:
    once = training("echo here")
    desk = replace(once, spec=once.spec.model_copy(update={"kind": WorkloadKind.WORKSPACE}))
    assert rig.over(rig.submit(desk)).phase is Phase.COMPLETED
    again = replace(desk, run=2)
    with pytest.raises(EngineUnavailable, match="is being deleted"):
        rig.engine.submit(again)

    def accepted() -> bool:
        with suppress(EngineUnavailable):
            rig.engine.submit(again)
            return True
        return False

    wait_for(accepted, 30, "the job of the run before to be gone")
    ended = rig.over(again)
    assert (ended.run, ended.phase) == (2, Phase.COMPLETED)
