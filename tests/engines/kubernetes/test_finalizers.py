"""Jobs that somebody else keeps from going. No cluster."""

from typing import Any, cast
from uuid import uuid4

import pytest

from engines.base import EngineUnavailable, Handle
from engines.kubernetes.client.api import Api
from engines.kubernetes.engine import KubernetesEngine

HANDLE = Handle(uuid4(), "mnist", "vision")


class Deleting:
    """An API server with PyTorchJobs, that answers deletions as told."""

    def __init__(self, *finalizers: str) -> None:
        self.left = {"metadata": {"deletionTimestamp": "now", "finalizers": list(finalizers)}}
        self.deleted: list[str] = []

    def get(self, path: str, **query: object) -> dict[str, Any]:
        return {"resources": [{"name": "pytorchjobs"}] if path.endswith("/v1") else []}

    def delete(self, path: str, **query: str) -> dict[str, Any] | None:
        self.deleted.append(path)
        return self.left if "pytorchjobs" in path else None

    def items(self, path: str, **query: str) -> list[Any]:
        return []


def test_a_job_that_a_finalizer_of_others_keeps_is_not_called_deleted() -> None:
    server = Deleting("foregroundDeletion", "example.com/hold")
    with pytest.raises(EngineUnavailable, match=r"by the finalizer example\.com/hold\.") as kept:
        KubernetesEngine(cast(Api, server)).delete(HANDLE)
    assert kept.value.cause
    assert any(path.endswith("-env") for path in server.deleted), "all else goes"


def test_a_job_that_waits_for_its_pods_alone_is_on_its_way() -> None:
    KubernetesEngine(cast(Api, Deleting("foregroundDeletion"))).delete(HANDLE)
