"""What somebody else keeps from going. No cluster."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import uuid4

import pytest

from engines.base import EngineUnavailable, Handle, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.kueue.names import KUEUE, MANAGED
from engines.kubernetes.names import job_name
from tests.engines.kubernetes.kueue.queue_entries import entry

HANDLE = Handle(uuid4(), "mnist", "vision")


class Deleting:
    """An API server with PyTorchJobs, that answers deletions as told.

    ``pod`` are finalizers of the job's pod. ``entries`` are Workloads of Kueue, if it has Kueue.
    """

    def __init__(
        self,
        *finalizers: str,
        pod: Sequence[str] = (),
        entries: Sequence[Manifest] | None = None,
        gone: bool = False,
    ) -> None:
        self.left = None if gone else ending("mnist", *finalizers)
        self.pod = ending("mnist-worker-0", *pod)
        self.entries = entries
        self.deleted: list[str] = []

    def get(self, path: str, **query: object) -> dict[str, Any]:
        if path == "/apis":
            versions = [] if self.entries is None else [{"version": "v1beta2"}]
            return {"groups": [{"name": KUEUE, "versions": versions}]}
        return {"resources": [{"name": "pytorchjobs"}] if path.endswith("/v1") else []}

    def delete(self, path: str, **query: str) -> dict[str, Any] | None:
        self.deleted.append(path)
        return self.left if "pytorchjobs" in path else None

    def items(self, path: str, **query: str) -> list[Any]:
        return [self.pod] if path.endswith("/pods") else []

    def all_items(self, path: str, **query: str) -> list[Any]:
        return list(self.entries or ())


def ending(name: str, *finalizers: str) -> Manifest:
    meta = {"name": name, "deletionTimestamp": "now", "finalizers": list(finalizers)}
    return {"metadata": meta}


def test_a_job_that_a_finalizer_of_others_keeps_is_not_called_deleted() -> None:
    server = Deleting("foregroundDeletion", "example.com/hold")
    with pytest.raises(EngineUnavailable, match=r"by the finalizer example\.com/hold\.") as kept:
        KubernetesEngine(cast(Api, server)).delete(HANDLE)
    assert kept.value.cause
    assert any(path.endswith("-env") for path in server.deleted), "all else goes"


def test_a_job_that_waits_for_its_pods_alone_is_on_its_way() -> None:
    KubernetesEngine(cast(Api, Deleting("foregroundDeletion"))).delete(HANDLE)


def test_a_pod_that_a_finalizer_of_others_keeps_is_named() -> None:
    """Kueue's, on an ended pod of a group that waits for its replacement."""
    server = Deleting("foregroundDeletion", pod=["batch.kubernetes.io/job-tracking", MANAGED])
    with pytest.raises(EngineUnavailable, match=rf"The pod mnist-worker-0 .* finalizer {MANAGED}"):
        KubernetesEngine(cast(Api, server)).delete(HANDLE)


@pytest.mark.parametrize(("gone", "words"), [(False, "are ending"), (True, "still has its")])
def test_a_job_of_kueue_is_deleted_once_its_quota_is_free(gone: bool, words: str) -> None:
    counted = entry()
    counted["metadata"]["ownerReferences"] = [{"uid": "job", "name": job_name(HANDLE)}]
    other = entry(job="other")
    server = Deleting("foregroundDeletion", entries=[other, counted], gone=gone)
    with pytest.raises(EngineUnavailable, match=words) as waiting:
        KubernetesEngine(cast(Api, server)).delete(HANDLE)
    assert waiting.value.cause
    KubernetesEngine(cast(Api, Deleting(entries=[other], gone=True))).delete(HANDLE)
