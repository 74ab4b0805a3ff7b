"""What a real cluster does to a workload, and what the engine says of it."""

from contextlib import closing
from dataclasses import replace

import pytest

from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster.nodes import allocations
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.names import job_name
from engines.kubernetes.watch.reflector import Reflector
from spec.framework import Framework
from spec.parts.compute import Compute
from spec.phases import Phase, Reason
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.reading_watch import changes
from tests.engines.reading import listed, printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
ONLY = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 2}


def log(rig: KubernetesRig, launched: Launch, rank: int) -> str:
    return printed(rig.engine, launched, rank).decode()


def test_the_kubernetes_engine_offers_what_is_installed(rig: KubernetesRig) -> None:
    offer = rig.engine.capabilities()
    assert offer.queues
    assert offer.framework(Framework.PYTORCH).version == "kubeflow.org/v1"
    assert offer.framework(Framework.MPI).version == "kubeflow.org/v2beta1"
    assert offer.framework(Framework.JAX).version == "kubeflow.org/v1"
    assert "default-scheduler" in offer.schedulers


def test_workers_alone_meet_at_the_first_of_them(rig: KubernetesRig) -> None:
    launched = rig.submit(rig.shell("echo $RANK of $WORLD_SIZE at $MASTER_ADDR", **ONLY))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched, 1) == f"1 of 2 at {job_name(launched.handle)}-worker-0\n"


@pytest.mark.parametrize("framework", [Framework.TENSORFLOW, Framework.XGBOOST])
def test_frameworks_besides_pytorch_run_to_their_end(
    rig: KubernetesRig, framework: Framework
) -> None:
    script = 'case "$TF_CONFIG$RANK" in *chief\\"*index\\":0*|0) sleep 3;; esac; echo done'
    launched = rig.submit(rig.shell(script, distributed_framework=framework))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched, 0) == "done\n"


def test_a_gang_of_jax_runs_to_its_end(rig: KubernetesRig) -> None:
    script = "echo $PROCESS_ID of $NUM_PROCESSES"
    launched = rig.submit(rig.shell(script, distributed_framework=Framework.JAX, **ONLY))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert log(rig, launched, 1) == "1 of 2\n"


def test_a_gang_that_fits_nowhere_says_why(rig: KubernetesRig) -> None:
    launched = rig.shell("exit 0")
    worker = launched.spec.worker.model_copy(update={"compute": Compute(gpu_devices_request=64)})
    spec = launched.spec.model_copy(update={"worker": worker})
    launched = rig.submit(replace(launched, spec=spec))

    def reason() -> bool:
        return rig.seen(launched, Phase.PENDING).reason is Reason.WAITING_FOR_CAPACITY

    wait_for(reason, 10)
    cause = rig.seen(launched, Phase.PENDING).cause
    assert cause
    assert cause.title.startswith("No node of the cluster has ")
    assert "Insufficient nvidia.com/gpu" in cause.said


def test_restarts_end_at_the_backoff_limit(rig: KubernetesRig) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(rig.shell("echo try; sleep 1; exit 5", backoff_limit=1))
        for seen in changes(watch, launched):
            if seen.phase is Phase.FAILED:
                break
    assert seen.reason is Reason.RANK_FAILED
    assert "exited with code 5" in seen.message


def test_a_job_deleted_by_hand_is_gone(rig: KubernetesRig) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(rig.endless())
        told = changes(watch, launched)
        assert next(seen for seen in told if seen.phase is Phase.RUNNING)
        path = PYTORCH.path(f"{PREFIX}team-a", job_name(launched.handle))
        rig.api.delete(path, propagationPolicy="Background")
        last = next(seen for seen in told if seen.phase is None)
    assert last.sequence > 0
    assert rig.engine.observe(launched.handle) is None


def test_a_watch_that_is_cut_goes_on(rig: KubernetesRig, monkeypatch: pytest.MonkeyPatch) -> None:
    feeds: list[Reflector] = []
    start = Reflector.start

    def remember(feed: Reflector) -> None:
        feeds.append(feed)
        start(feed)

    monkeypatch.setattr(Reflector, "start", remember)
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(rig.endless())
        told = changes(watch, launched)
        next(told)
        for feed in feeds:
            if feed._response:
                feed._response.shutdown()
        assert next(seen for seen in told if seen.phase is Phase.RUNNING)
        rig.engine.stop(launched.handle, run=1)
        assert next(seen for seen in told if seen.phase is Phase.STOPPED)


def test_a_run_waits_for_the_one_before_it(rig: KubernetesRig) -> None:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    with pytest.raises(EngineUnavailable, match="still ending"):
        rig.engine.submit(replace(launched, run=2))


def test_a_refusal_says_what_the_server_said(rig: KubernetesRig) -> None:
    launched = rig.shell("exit 0")
    odd = replace(launched, handle=replace(launched.handle, project="Not_A_Name"))
    with pytest.raises(EngineRefused, match=r"Not_A_Name") as refusal:
        rig.engine.submit(odd)
    assert refusal.value.field == "metadata.name"


def test_a_server_that_is_away_is_unavailable() -> None:
    kubeconfig = """
        {clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], users: [],
         contexts: [{name: a, context: {cluster: a, user: ""}}], current-context: a}
    """
    with pytest.raises(EngineUnavailable, match="does not answer"):
        KubernetesEngine(connect(kubeconfig)).capabilities()


NOT_BASE64 = """
    {clusters: [{name: a, cluster: {server: "https://a:1", certificate-authority-data: "not it"}}],
     contexts: [{name: a, context: {cluster: a, user: ""}}], current-context: a, users: []}
"""


@pytest.mark.parametrize("text", ["", "{", "[]", "{current-context: x}", NOT_BASE64])
def test_a_broken_kubeconfig_is_refused(text: str) -> None:
    with pytest.raises(EngineRefused, match="kubeconfig"):
        connect(text)


def test_allocations_of_nodes_are_counted_from_the_watch_without_reading_again(
    rig: KubernetesRig,
) -> None:
    launched = rig.submit(rig.shell("exec sleep 600", **ONLY))
    with closing(rig.engine.watch()) as watch:
        wait_for(lambda: (next(watch) or launched) and all_run(rig, launched), 60, "both ranks")
        held = [node.allocated for node in rig.engine.nodes()]
    by_node = allocations(rig.api)
    assert held == [by_node[node.name] for node in rig.engine.nodes()]
    asked = launched.spec.worker.compute.cpu_core_request
    assert sum(one.cpu for one in by_node.values()) >= 2 * asked > 0


def all_run(rig: KubernetesRig, launched: Launch) -> bool:
    seen = rig.engine.observe(launched.handle)
    return seen is not None and seen.phase is Phase.RUNNING
