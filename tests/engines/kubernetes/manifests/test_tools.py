"""How tools in pods are reached from outside, on paper and on a real cluster."""

import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engines.base import EngineRefused, EngineUnavailable, Launch, Site
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.objects import collection_path
from spec.formats import documents
from spec.phases import Phase
from spec.tools import Tool, served_tools
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.cases import SIMPLE, SITE, case
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.waiting import wait_for

TOOL = {"name": "lab", "containerPort": 8888}
SERVE = "/bin/sh -c 'mkdir /tmp/w; echo hi > /tmp/w/index.html; exec httpd -f -p 8888 -h /tmp/w'"


def with_tool(site: Site = SITE, **tool: Any) -> Launch:
    worker = SIMPLE | {"connections": [TOOL | tool]}
    spec = documents.load_spec({"distributedFramework": "PyTorch", "worker": worker})
    return replace(case("pytorch"), spec=spec, site=site)


@pytest.mark.parametrize(
    ("site", "tool", "field"),
    [
        (Site(), {}, "connectionType"),
        (replace(SITE, public_url=""), {}, "connectionType"),
        (SITE, {"externalUrl": "https://elsewhere.example.com"}, "externalUrl"),
        (SITE, {"externalUrl": "https://a.b.train.example.com"}, "externalUrl"),
        (
            replace(SITE, ingress_domain="example.com"),
            {"externalUrl": "https://trainyard.example.com"},
            "externalUrl",
        ),
    ],
)
def test_an_external_url_that_cannot_be_had_is_refused(
    site: Site, tool: dict[str, Any], field: str
) -> None:
    with pytest.raises(EngineRefused) as refusal:
        manifests(with_tool(site, **tool), prefix="")
    assert refusal.value.field == f"worker.connections[0].{field}"


def test_an_external_url_of_ones_own() -> None:
    launch = with_tool(externalUrl="https://mine.train.example.com/lab")
    ingress = next(item for item in manifests(launch, prefix="") if item["kind"] == "Ingress")
    assert ingress["spec"]["rules"][0]["host"] == "mine.train.example.com"


def test_hosts_stay_within_a_label_and_apart() -> None:
    launch = with_tool()
    long = replace(launch, handle=replace(launch.handle, name="n" * 52, project="p" * 40))
    ingress = next(item for item in manifests(long, prefix="") if item["kind"] == "Ingress")
    assert len(ingress["spec"]["rules"][0]["host"].split(".")[0]) <= 63


@pytest.fixture
def space(api: Api) -> Iterator[str]:
    yield f"{PREFIX}team-a"
    for kind in ("Service", "Ingress"):
        path = collection_path(kind, f"{PREFIX}team-a")
        for item in api.items(path, labelSelector=WORKLOAD):
            api.delete(f"{path}/{item['metadata']['name']}")


def serving(rig: KubernetesRig, **tool: Any) -> tuple[Launch, Tool]:
    worker = {"image": SHELL_IMAGE, "command": SERVE, "connections": [TOOL | tool]}
    spec = {"distributedFramework": "PyTorch", "architecture": "workers_only", "worker": worker}
    launched = replace(rig.endless(), spec=documents.load_spec(spec), site=SITE)
    return launched, served_tools(launched.spec)[0]


@pytest.mark.kubernetes
def test_a_node_port_answers_and_a_taken_one_is_refused(rig: KubernetesRig, space: str) -> None:
    launched, tool = serving(rig, connectionType="NodePort", nodePort=30_217)
    rig.submit(launched)
    rig.seen(launched, Phase.RUNNING)
    address = rig.engine.address(launched.handle, tool)
    assert address.endswith(":30217")
    taken, _ = serving(rig, connectionType="NodePort", nodePort=30_217)
    with pytest.raises(EngineRefused, match="already allocated") as refusal:
        rig.engine.submit(taken)
    assert refusal.value.field == "worker.connections[0].nodePort"
    rig.engine.delete(taken.handle)

    def text() -> bytes:
        try:
            # The address of the test cluster's node as this machine reaches it.
            with urllib.request.urlopen("http://10.244.0.1:30217", timeout=2) as answer:
                return bytes(answer.read())
        except OSError:
            return b""

    wait_for(lambda: text() == b"hi\n", 30, "the node port to answer", every=0.2)


@pytest.mark.kubernetes
def test_a_load_balancer_is_reached_at_the_address_that_the_cluster_assigned(
    rig: KubernetesRig, api: Api, space: str
) -> None:
    launched, tool = serving(rig, connectionType="LoadBalancer")
    rig.submit(launched)
    rig.seen(launched, Phase.RUNNING)
    with pytest.raises(EngineUnavailable, match="no address yet"):
        rig.engine.address(launched.handle, tool)
    selector = f"trainyard.io/tool,{WORKLOAD}={launched.handle.workload_id}"
    (service,) = api.items(collection_path("Service", space), labelSelector=selector)
    status = {"status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}}
    api.merge(f"{collection_path('Service', space)}/{service['metadata']['name']}/status", status)
    assert rig.engine.address(launched.handle, tool) == "http://203.0.113.7:8888"
    rig.engine.delete(launched.handle)


@pytest.mark.kubernetes
def test_objects_go_with_the_workload_and_only_its_own(rig: KubernetesRig, space: str) -> None:
    launched, tool = serving(rig)
    other, _ = serving(rig, connectionType="ClusterIP")
    for each in (launched, other):
        rig.submit(each)
        rig.seen(each, Phase.RUNNING)
    rig.engine.submit(launched)  # twice is once
    label = launched.handle.workload_id.hex[:8]
    assert rig.engine.address(launched.handle, tool) == (
        f"https://demo-team-a-{label}.train.example.com"
    )
    assert rig.engine.address(other.handle, served_tools(other.spec)[0]) == ""
    rig.engine.delete(launched.handle)
    selector = f"trainyard.io/tool,{WORKLOAD}"
    left = rig.api.items(collection_path("Service", space), labelSelector=selector)
    assert [item["metadata"]["labels"][WORKLOAD] for item in left] == [
        str(other.handle.workload_id)
    ]
    assert not rig.api.items(collection_path("Ingress", space), labelSelector=selector)
    rig.engine.delete(other.handle)
