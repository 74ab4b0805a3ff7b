"""Data that lies on the cluster already, and where pods run, with real pods."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.base import Site
from engines.kubernetes.jobs import KAI, PYTORCH
from engines.kubernetes.manifests.pod.scheduling import QUEUE
from engines.kubernetes.names import job_name, project_queue
from engines.kubernetes.watch.watcher import PODS
from spec.phases import Phase, Reason
from tests.engines.kubernetes.conftest import PREFIX, SPACE, KubernetesRig
from tests.engines.kubernetes.launches import ONE, with_spec
from tests.engines.reading import printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes


@pytest.fixture
def data(rig: KubernetesRig) -> Iterator[None]:
    """A Secret and a ConfigMap of the project."""
    rig.keep("secrets", "site", {"kind": "Secret", "stringData": {"key": "hush"}})
    told = {"region": "north", "train.yaml": "epochs: 2"}
    rig.keep("configmaps", "site", {"kind": "ConfigMap", "data": told})
    yield
    for plural in ("secrets", "configmaps"):
        rig.api.delete(f"{SPACE}/{plural}/site")


@pytest.mark.usefixtures("data")
def test_data_that_lies_on_the_cluster_reaches_the_program(rig: KubernetesRig) -> None:
    script = (
        "echo $REGION $KEY $SPACE; cat /etc/train.yaml; echo; cat /certs/key; echo;"
        "stat -c %a -L /certs/key; touch /fast/x && echo fast"
    )
    variables = [
        {"name": "REGION", "configMap": {"name": "site", "key": "region"}},
        {"name": "KEY", "secret": {"name": "site", "key": "key"}},
        {"name": "SPACE", "podFieldRef": {"path": "metadata.namespace"}},
    ]
    conf = {"configMap": "site", "mountPath": "/etc/train.yaml", "subPath": "train.yaml"}
    storage = {
        "configMapVolume": [conf],
        "secretVolume": [{"secret": "site", "mountPath": "/certs", "defaultMode": "0400"}],
        "emptyDirVolume": [{"path": "/fast", "medium": "Memory", "sizeLimit": "1Mi"}],
    }
    worker = {"environmentVariables": variables, "storage": storage}
    launched = rig.submit(with_spec(rig.shell(script, **ONE), worker=worker))
    assert rig.over(launched).phase is Phase.COMPLETED
    text = printed(rig.engine, launched).decode()
    assert text.splitlines() == [
        f"north hush {PREFIX}team-a",
        "epochs: 2",
        "hush",
        "400",
        "fast",
    ]


def test_a_claim_that_exists_is_used_and_stays(rig: KubernetesRig) -> None:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1M"}}}
    rig.keep("persistentvolumeclaims", "sets", {"kind": "PersistentVolumeClaim", "spec": wanted})
    claim = {"path": "/sets", "existingPvc": True, "claimName": "sets"}
    try:
        for script in ("echo kept > /sets/file", "cat /sets/file"):
            launched = with_spec(rig.shell(script, **ONE), worker={"storage": {"pvc": [claim]}})
            rig.submit(launched)
            assert rig.over(launched).phase is Phase.COMPLETED
        assert printed(rig.engine, launched) == b"kept\n"
        rig.engine.delete(launched.handle)
        claim_path = f"{SPACE}/persistentvolumeclaims/sets"
        assert "deletionTimestamp" not in rig.api.get(claim_path)["metadata"]
    finally:
        rig.api.delete(f"{SPACE}/persistentvolumeclaims/sets")


def test_a_folder_of_the_node_is_mounted(rig: KubernetesRig) -> None:
    """``/etc``, for every node has it; nothing is written there."""
    folder = {"path": "/etc", "mountPath": "/host"}
    script = "ls /host/passwd; touch /host/x 2>&1 | grep -o 'Read-only.*'"
    launched = with_spec(rig.shell(script, **ONE), worker={"storage": {"hostPath": [folder]}})
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched) == b"/host/passwd\nRead-only file system\n"


def test_pods_go_to_a_pool_that_has_nodes(rig: KubernetesRig) -> None:
    host = "kubernetes.io/hostname"
    name = rig.api.items("/api/v1/nodes")[0]["metadata"]["labels"][host]
    site = Site(pools={"empty": ("trainyard.io/none", "x"), "here": (host, name)})
    worker = {"tolerations": [{"key": "any", "operator": "Exists"}]}
    both = with_spec(rig.shell("true", **ONE), worker=worker, nodePools=["empty", "here"])
    rig.submit(replace(both, site=site))
    assert rig.over(both).phase is Phase.COMPLETED
    empty = with_spec(rig.shell("true", **ONE), worker={}, nodePools=["empty"])
    rig.submit(replace(empty, site=site))

    def waits() -> bool:
        return rig.seen(empty, Phase.PENDING).reason is Reason.WAITING_FOR_CAPACITY

    wait_for(waits, 30, "the scheduler to say that no node matches")


@pytest.mark.kai
def test_kai_gets_the_gang_with_its_queue_and_shares(rig: KubernetesRig) -> None:
    if KAI not in rig.engine.capabilities().schedulers:
        pytest.skip("this cluster has no KAI scheduler")
    portion = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
    launched = with_spec(rig.shell("exec sleep 600", **ONE), worker={"compute": portion})
    rig.submit(replace(launched, site=Site(schedulers=(KAI,))))
    path = PYTORCH.path(f"{PREFIX}team-a", job_name(launched.handle))
    queue = project_queue("team-a", PREFIX)
    assert rig.api.get(path)["metadata"]["labels"][QUEUE] == queue
    pod = wait_for(lambda: rig.mine(PODS), 30, "the pod")[0]
    assert pod["spec"]["schedulerName"] == KAI
    assert pod["metadata"]["annotations"]["gpu-fraction"] == "0.5"
    assert pod["metadata"]["labels"][QUEUE] == queue
