"""A default that changes later changes no workload that is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from engines.kubernetes.manifests.job import manifests
from spec.formats import documents
from spec.parts.compute import Compute
from spec.parts.environment import PullPolicy
from spec.workload import Replica, WorkloadSpec
from tests.factories import (
    WorkloadFactory,
)
from workloads.launch import launch_with_secrets
from workloads.models import Workload

pytestmark = pytest.mark.django_db

TOOL = {"name": "app", "containerPort": 80, "connectionType": "ClusterIP"}
GIVEN = {"distributedFramework": "PyTorch", "worker": {"image": "img:1", "connections": [TOOL]}}
OTHERS: tuple[tuple[type[BaseModel], str, Any], ...] = (
    (Compute, "cpu_core_request", 3.0),
    (Compute, "large_shm_request", True),
    (Replica, "image_pull_policy", PullPolicy.ALWAYS),
    (Replica, "stdin", True),
    (WorkloadSpec, "num_workers", 4),
    (WorkloadSpec, "slots_per_worker", 2),
    (WorkloadSpec, "backoff_limit", 0),
    (WorkloadSpec, "termination_grace_period_seconds", 5),
    (WorkloadSpec, "auto_deletion_time_after_completion_seconds", 60),
)


@contextmanager
def other_defaults() -> Iterator[None]:
    kept = [(model, name, model.model_fields[name].default) for model, name, _ in OTHERS]
    try:
        _set(OTHERS)
        yield
    finally:
        _set(kept)


def _set(defaults: Any) -> None:
    for model, name, default in defaults:
        model.model_fields[name].default = default
    Compute.model_rebuild(force=True)
    Replica.model_fields["compute"].default = Compute()
    for model in (Replica, WorkloadSpec):
        model.model_rebuild(force=True)


def rendered(workload: Workload) -> list[dict[str, Any]]:
    return manifests(launch_with_secrets(workload), prefix="trainyard-")


def test_an_old_workload_that_runs_again_is_what_it_was() -> None:
    stored = documents.dump_spec(documents.load_spec(GIVEN))
    workload = WorkloadFactory(spec_json=stored)
    before = rendered(workload)
    with other_defaults():
        assert rendered(workload) == before
        assert documents.dump_spec(workload.spec) == stored
        assert rendered(workload) == before
        workload.spec_json = GIVEN
        assert rendered(workload) != before, "what is left out changes with its default"
    workload.spec_json = documents.without_defaults(stored)
    assert rendered(workload) == before
