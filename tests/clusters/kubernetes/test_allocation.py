"""Requests of all pods on a real node count as allocated there."""

import os
from typing import Any
from uuid import uuid4

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.nodes import allocations
from engines.nodes import Allocation
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
IMAGE = os.environ.get("TRAINYARD_TEST_IMAGE", "local/busybox:1")
MIB = 1024**2


def test_pods_of_others_hold_a_node(api: Api) -> None:
    nodes = api.items("/api/v1/nodes")
    if not nodes:
        pytest.skip("this cluster has no node, so nothing runs there")
    space = f"trainyard-test-{uuid4().hex[:8]}"
    api.create("/api/v1/namespaces", {"metadata": {"name": space}})
    try:
        before = held(api)
        container: dict[str, Any] = {
            "name": "main",
            "image": IMAGE,
            "command": ["sleep", "600"],
            "resources": {"requests": {"cpu": "30m", "memory": "16Mi"}},
        }
        first: dict[str, Any] = {**container, "name": "first", "command": ["true"]}
        first["resources"] = {"requests": {"cpu": "50m", "memory": "8Mi"}}
        spec: dict[str, Any] = {"initContainers": [first], "containers": [container]}
        spec |= {"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False}
        wait_for(lambda: api.find(f"/api/v1/namespaces/{space}/serviceaccounts/default"), 15)
        pod = {"metadata": {"name": "theirs"}, "spec": spec}
        api.create(f"/api/v1/namespaces/{space}/pods", pod)
        wait_for(lambda: held(api).memory - before.memory == 16 * MIB, 30, "the pod to be placed")
        assert round(held(api).cpu - before.cpu, 3) == 0.05
    finally:
        api.delete(f"/api/v1/namespaces/{space}")


def held(api: Api) -> Allocation:
    """Of all nodes together."""
    found = allocations(api).values()
    return Allocation(
        sum(one.cpu for one in found), sum(one.memory for one in found), sum(o.gpus for o in found)
    )
