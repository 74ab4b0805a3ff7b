"""A standard training on a cluster: run by the operator that is there, else refused in words."""

from dataclasses import asdict
from typing import Any
from uuid import uuid4

import pytest

from clusters.connections import complaints
from clusters.kinds.kubernetes.kind import OR_JOBS
from clusters.models import Cluster
from engines.base import FrameworkSupport, Handle
from spec.formats import documents
from spec.framework import Framework

pytestmark = pytest.mark.django_db
WORKER = {"image": "x:1"}
WHY = "The cluster has no PyTorchJob. Install the Kubeflow training operator, which brings it."


def told(
    support: FrameworkSupport, document: dict[str, Any], *, plain_jobs: bool = False
) -> dict[str, str]:
    has = {"queues": True, "frameworks": [asdict(support)], "plain_jobs": plain_jobs}
    cluster = Cluster.objects.create(name="gpu", kind="kubernetes", capabilities_json=has)
    spec = documents.load_spec({**document, "worker": WORKER})
    problems = complaints(cluster, Handle(uuid4(), "alone", "vision"), spec)
    return {problem.field: problem.message for problem in problems}


def test_a_standard_training_runs_where_the_training_operator_is() -> None:
    here = FrameworkSupport(Framework.PYTORCH, available=True)
    assert told(here, {"kind": "training"}) == {}


def test_without_that_operator_it_is_refused_by_its_kind() -> None:
    away = FrameworkSupport(Framework.PYTORCH, available=False, why=WHY)
    assert told(away, {"kind": "training"}) == {
        "kind": f"a single pod runs as a PyTorchJob here. {WHY} {OR_JOBS}"
    }


def test_without_that_operator_it_runs_where_kubernetes_own_jobs_will_do() -> None:
    away = FrameworkSupport(Framework.PYTORCH, available=False, why=WHY)
    assert told(away, {"kind": "workspace"}, plain_jobs=True) == {}


def test_a_gang_is_judged_by_its_framework_alone() -> None:
    away = FrameworkSupport(Framework.PYTORCH, available=False, why=WHY)
    assert told(away, {"distributedFramework": "MPI"}) == {}
