"""What a test of a connection finds: of clusters old and new, well kept and poor."""

from collections.abc import Iterator
from typing import Any

import pytest

from engines.findings import CONNECTION, METERING, PERMISSIONS, SIGNED_IN, Finding, Level
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.checks import (
    FRAMEWORKS,
    NODES,
    REVIEW_OF_SELF,
    SCHEDULING,
    STORAGE,
    findings,
)
from engines.kubernetes.cluster.nodes import Inventory
from engines.kubernetes.cluster.reviews import REVIEWS
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.kueue.names import KUEUE
from engines.kubernetes.labels import INSTALLATION, PROJECT
from engines.kubernetes.objects import NAMESPACES
from tests.engines.kubernetes.answering import Answering, answering

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
KUBEFLOW, MPI, METRICS = (
    f"/apis/{path}" for path in ("kubeflow.org/v1", "kubeflow.org/v2beta1", "metrics.k8s.io/v1")
)
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
WHO = "system:serviceaccount:ml:trainyard"


def resources(*plurals: str) -> dict[str, Any]:
    return {"resources": [{"name": plural} for plural in plurals]}


def group(name: str, *versions: str) -> dict[str, Any]:
    served = [{"groupVersion": f"{name}/{version}"} for version in versions]
    return {"name": name, "versions": served, "preferredVersion": served[0]}


def groups(*, without: str = "") -> dict[str, Any]:
    here = group("kubeflow.org", "v1", "v2beta1"), group("scheduling.run.ai", "v2")
    return {
        "groups": [it for it in (*here, group("metrics.k8s.io", "v1")) if it["name"] != without]
    }


def classes(default: str) -> dict[str, Any]:
    found = [{"name": name} for name in ("slow", "fast")]
    notes = {True: {"annotations": DEFAULT}, False: {}}
    return {"items": [{"metadata": meta | notes[meta["name"] == default]} for meta in found]}


def nodes(*, ready: str = "True", gpu: str = "nvidia.com/gpu") -> dict[str, Any]:
    room = {"cpu": "8", "memory": "32Gi", gpu: "4", "rdma/rdma": "1"}
    state = {"allocatable": room, "conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {}, "items": [{"metadata": {"name": "n"}, "spec": {}, "status": state}]}


def version(minor: str) -> dict[str, str]:
    return {"major": "1", "minor": minor, "gitVersion": f"v1.{minor}"}


WELL: dict[str, Any] = {
    "/version": version("34+"),
    "/readyz": {},
    "/apis": groups(),
    KUBEFLOW: resources("pytorchjobs", "pytorchjobs/status", "tfjobs", "xgboostjobs", "mpijobs"),
    MPI: resources("mpijobs"),
    METRICS: resources("pods"),
    CLASSES: classes("fast"),
    REVIEWS: {"status": {"allowed": True}},
    "/api/v1/nodes": nodes(),
    "/api/v1/pods": {"metadata": {}, "items": []},
    REVIEW_OF_SELF: {"status": {"userInfo": {"username": WHO}}},
}


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as made:
        made.answers = dict(WELL)
        yield made


def found(api: Api) -> dict[str, Finding]:
    return {one.name: one for one in findings(api, Inventory(api, lambda: None))}


def test_a_connection_test_says_what_a_cluster_has(server: Answering) -> None:
    seen = found(server.api)
    assert {name: one.text for name, one in seen.items() if one.area != PERMISSIONS} == {
        "API server": f"Kubernetes v1.34+ at {server.address}",
        SIGNED_IN: WHO,
        "PyTorch": "Kubeflow training operator, kubeflow.org/v1",
        "TensorFlow": "Kubeflow training operator, kubeflow.org/v1",
        "XG Boost": "Kubeflow training operator, kubeflow.org/v1",
        "MPI": "Kubeflow MPI operator, kubeflow.org/v2beta1",
        "JAX": seen["JAX"].text,
        "Scheduler": "KAI and the default scheduler",
        "Default storage class": "fast",
        "Metrics API": "metrics.k8s.io/v1",
        "Nodes": "1 of 1 ready",
        "GPU resources": "nvidia.com/gpu, rdma/rdma",
    }
    assert {name for name, one in seen.items() if one.level is not Level.OK} == {"JAX"}
    assert "jaxjobs.kubeflow.org" not in seen, "no right is asked for on what is not served"


def test_each_thing_is_listed_once(server: Answering) -> None:
    names = [
        (one.area, one.name) for one in findings(server.api, Inventory(server.api, lambda: None))
    ]
    assert len(names) == len(set(names))
    assert found(server.api)["namespaces"].text == "get, create, list, patch"


def test_needed_and_optional_permissions_are_told_in_one_line(server: Answering) -> None:
    server.answers[REVIEWS] = {"status": {"allowed": False}}
    one = found(server.api)["namespaces"]
    assert one.level is Level.MISSING
    assert "get, create: not allowed. Needed for a namespace for each project." in one.text
    assert "list, patch: not allowed. Needed for telling apart two Trainyards" in one.text


@pytest.mark.parametrize(
    ("change", "name", "level", "words"),
    [
        ({"/version": version("28")}, "API server", Level.MISSING, "needs 1.29 or later"),
        ({"/readyz": (500, "etcd failed")}, "Readiness", Level.ISSUE, "500: etcd failed. Check"),
        ({KUBEFLOW: resources("tfjobs")}, "PyTorch", Level.OK, "Jobs of Kubernetes itself"),
        ({KUBEFLOW: resources("jaxjobs")}, "TensorFlow", Level.WARNING, "has no TFJob. Install"),
        (
            {KUBEFLOW: resources("pytorchjobs", "jaxjobs")},
            "JAX",
            Level.OK,
            "kubeflow.org/v1",
        ),
        (
            {MPI: resources()},
            "MPI",
            Level.WARNING,
            "has MPIJob kubeflow.org/v1 and Trainyard writes",
        ),
        ({"/apis": groups(without="kubeflow.org")}, "PyTorch", Level.OK, "Elastic workers"),
        ({"/apis": groups(without="kubeflow.org")}, "MPI", Level.WARNING, "MPI operator"),
        ({"/apis": groups(without="scheduling.run.ai")}, "Scheduler", Level.OK, "need KAI, which"),
        ({CLASSES: classes("")}, "Default storage class", Level.WARNING, "Classes: slow, fast."),
        ({CLASSES: (403, "no")}, "Default storage class", Level.WARNING, "not allowed to list"),
        (
            {"/apis": groups(without="metrics.k8s.io")},
            "Metrics API",
            Level.WARNING,
            "Install metrics-server",
        ),
        ({METRICS: (503, "no endpoints")}, "Metrics API", Level.ISSUE, "no endpoints"),
        ({"/api/v1/nodes": nodes(ready="False")}, "Nodes", Level.ISSUE, "0 of 1 ready"),
        (
            {"/api/v1/nodes": nodes(gpu="amd.com/gpu")},
            "GPU resources",
            Level.WARNING,
            "Offered by nodes: amd.com/gpu, rdma/rdma.",
        ),
        ({REVIEWS: {"status": {"allowed": False}}}, "pods/log", Level.MISSING, "get: not allowed"),
        ({REVIEWS: {"status": {"allowed": False}}}, "secrets", Level.WARNING, "secret values"),
        ({REVIEWS: {"status": {"allowed": False}}}, "services", Level.WARNING, "tools on ports"),
    ],
)
def test_a_connection_test_says_what_lacks_and_what_to_do(
    server: Answering, change: dict[str, Any], name: str, level: Level, words: str
) -> None:
    server.answers |= change
    one = found(server.api)[name]
    assert one.level is level
    assert words in one.text


SILENT = 'failed calling webhook "validator.pytorchjob.kubeflow.org": connection refused'


def test_an_operator_that_does_not_answer_is_an_issue(server: Answering) -> None:
    """That its kinds of job are there says nothing of it."""
    server.answers["/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"] = (500, SILENT)
    seen = found(server.api)
    assert seen["PyTorch"].level is Level.ISSUE
    assert "webhook validator.pytorchjob.kubeflow.org does not answer" in seen["PyTorch"].text
    assert seen["TensorFlow"].level is Level.OK


def space(name: str, project: str, installation: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {PROJECT: project, INSTALLATION: installation}}}


def test_a_prefix_that_only_another_trainyard_uses_is_refused(
    server: Answering,
) -> None:
    spaces = [
        space("trainyard-vision", "vision", "theirs"),
        space("trainyard-mine", "mine", "mine"),
        space("trainyard-b-x", "x", "theirs"),  # whose prefix begins as ours does
    ]
    server.answers[NAMESPACES] = {"items": spaces[1:], "metadata": {}}

    def prefix() -> Finding | None:
        inventory = Inventory(server.api, lambda: None)
        seen = findings(server.api, inventory, prefix="trainyard-", installation="mine")
        return next((one for one in seen if one.name == "Namespace prefix"), None)

    assert prefix() is None
    server.answers[NAMESPACES] = {"items": spaces, "metadata": {}}
    taken = prefix()
    assert taken
    assert taken.level is Level.MISSING
    assert "trainyard-vision belongs to another Trainyard" in taken.text
    server.answers[NAMESPACES] = {"items": spaces[::2], "metadata": {}}
    refused = prefix()
    assert refused
    assert refused.level is Level.REFUSED
    assert "trainyard- is in use on this cluster by another Trainyard" in refused.text
    assert "mark theirs: trainyard-vision." in refused.text
    assert f"-l '{INSTALLATION} in (theirs)' {INSTALLATION}-" in refused.text
    del spaces[1]["metadata"]["labels"][INSTALLATION]  # by us, before there were marks
    server.answers[NAMESPACES] = {"items": spaces, "metadata": {}}
    assert prefix() == taken


@pytest.mark.kubernetes
def test_every_area_of_a_real_cluster_is_looked_at(api: Api) -> None:
    seen = KubernetesEngine(api).check()
    areas = (CONNECTION, PERMISSIONS, FRAMEWORKS, SCHEDULING, STORAGE, METERING, NODES)
    assert tuple(dict.fromkeys(one.area for one in seen)) == areas
    texts = {one.name: one.text for one in seen}
    assert texts["API server"].startswith("Kubernetes v1.")
    assert texts["PyTorch"].endswith("kubeflow.org/v1")


KUEUE_API = f"/apis/{KUEUE}/v1beta2"


@pytest.fixture
def kueue(server: Answering) -> Answering:
    """The server has Kueue, which manages Jobs, and a project with a queue."""
    served = {"name": KUEUE, "versions": [{"version": "v1beta2", "groupVersion": KUEUE}]}
    preferred = {"preferredVersion": {"groupVersion": f"{KUEUE}/v1beta2"}}
    here = [*groups()["groups"], served | preferred]
    queue = {"metadata": {"name": "team", "namespace": "a-vision"}, "spec": {"clusterQueue": "cq"}}
    server.answers |= {
        "/apis": {"groups": here},
        "/apis/batch/v1/namespaces/default/jobs": {"spec": {"suspend": True}},
        "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs": {"spec": {"runPolicy": {}}},
        f"{KUEUE_API}/localqueues": {"metadata": {}, "items": [queue]},
        f"{KUEUE_API}/clusterqueues": {"metadata": {}, "items": []},
        NAMESPACES: spaces("a-vision"),
    }
    return server


def spaces(*names: str) -> dict[str, Any]:
    items = [{"metadata": {"name": name, "labels": {PROJECT: name}}} for name in names]
    return {"metadata": {}, "items": items}


def test_the_kinds_that_kueue_manages_are_found_by_trying(kueue: Answering) -> None:
    finding = found(kueue.api)["Kueue"]
    assert "Kinds that it manages: Job." in finding.text
    assert "It does not manage PyTorchJob:" in finding.text
    assert finding.level is Level.WARNING
    managed = {"spec": {"runPolicy": {"suspend": True}}}
    kueue.answers["/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"] = managed
    assert found(kueue.api)["Kueue"].level is Level.OK


def test_a_project_without_a_queue_of_kueue_is_named(kueue: Answering) -> None:
    def queues() -> Finding:
        api = kueue.api
        every = findings(api, Inventory(api, lambda: None), prefix="a-")
        return {one.name: one for one in every}["Queues of Kueue"]

    assert (queues().level, queues().text) == (Level.OK, "team in a-vision.")
    kueue.answers[NAMESPACES] = spaces("a-vision", "a-speech", "other")
    assert queues().level is Level.WARNING
    assert queues().text.endswith("These namespaces have none: a-speech.")


def test_kueue_is_not_mentioned_where_it_is_not(server: Answering) -> None:
    assert not {"Kueue", "Queues of Kueue"} & {*found(server.api)}
