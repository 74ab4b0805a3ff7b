"""Pods that serve something to the pods of a workload."""

from collections.abc import Iterator
from contextlib import contextmanager

from engines.base import Manifest
from engines.kubernetes.api import Api
from tests.waiting import wait_for

PODS = "/api/v1/namespaces/default/pods"


@contextmanager
def serving(api: Api, name: str, spec: Manifest) -> Iterator[str]:
    """The address of a pod of this name, once it is ready."""
    name = f"trainyard-test-{name}"
    _remove(api, name)
    wait_for(lambda: api.find(f"{PODS}/{name}") is None, 60, f"an earlier {name} to be gone")
    api.create(PODS, {"kind": "Pod", "metadata": {"name": name}, "spec": spec})
    try:
        yield wait_for(lambda: _address(api, name), 120, f"{name} to answer", every=0.1)
    finally:
        _remove(api, name)


def _address(api: Api, name: str) -> str:
    status = api.get(f"{PODS}/{name}")["status"]
    assert status["phase"] != "Failed", status
    ready = {"type": "Ready", "status": "True"}.items()
    is_ready = any(ready <= condition.items() for condition in status.get("conditions", ()))
    return str(status["podIP"]) if is_ready else ""


def _remove(api: Api, name: str) -> None:
    api.delete(f"{PODS}/{name}", gracePeriodSeconds=0)
