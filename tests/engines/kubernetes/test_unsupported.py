"""Everything that Kubernetes cannot honour is said at once, without asking a cluster."""

from dataclasses import replace

import pytest

from engines.base import EngineRefused
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.manifests.unsupported import complaints
from spec.formats import documents
from spec.problems.errors import path_text
from tests.engines.kubernetes.cases import MEMORY, SIMPLE, case

DOCUMENT = {
    "distributedFramework": "PyTorch",
    "minReplicas": 1,
    "nodePools": ["b200", "b300"],
    "terminateAfterPreemption": True,
    "worker": SIMPLE
    | {
        "compute": MEMORY,
        "connections": [{"name": "lab", "containerPort": 8888, "externalUrl": "https://else.org"}],
    },
    "master": SIMPLE | {"restartPolicy": "Always"},
}


def test_every_complaint_has_a_path_and_a_sentence() -> None:
    launch = replace(case("pytorch"), spec=documents.load_spec(DOCUMENT))
    problems = list(complaints(launch))
    assert [path_text(it.path) for it in problems] == [
        "minReplicas",
        "nodePools",
        "nodePools",
        "terminateAfterPreemption",
        "worker.connections[0].externalUrl",
        "worker.compute.gpuRequestType",
        "master.restartPolicy",
    ]
    with pytest.raises(EngineRefused) as refusal:
        manifests(launch, prefix="")
    said = [f"{path_text(it.path)}: {it.message}." for it in problems]
    assert str(refusal.value) == " ".join(said)
    assert refusal.value.field == "minReplicas"


def test_a_spec_that_kubernetes_can_honour_meets_no_complaint() -> None:
    assert list(complaints(case("pytorch-every-option"))) == []
