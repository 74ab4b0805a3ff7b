"""A default that changes later changes no workload that is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from pydantic import BaseModel

from assets.models import ComputeResource, Environment
from engines.kubernetes.manifests.job import manifests
from spec.formats import documents
from spec.parts.compute import Compute
from spec.parts.environment import PullPolicy
from spec.workload import Replica, WorkloadSpec
from tests.documents import says
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    WorkloadFactory,
)
from workloads.launch import launch_of
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
    return manifests(launch_of(workload), prefix="trainyard-")


def test_an_old_workload_that_runs_again_is_what_it_was() -> None:
    stored = documents.dump(documents.load(GIVEN))
    workload = WorkloadFactory(spec_json=stored)
    before = rendered(workload)
    with other_defaults():
        assert rendered(workload) == before
        assert documents.dump(workload.spec) == stored
        assert rendered(workload) == before
        workload.spec_json = GIVEN
        assert rendered(workload) != before, "what is left out changes with its default"
    workload.spec_json = documents.brief(stored)
    assert rendered(workload) == before


def whole_documents(app: str) -> None:
    name = {"assets": "0004_whole_documents", "workloads": "0004_whole_specs"}[app]
    import_module(f"{app}.migrations.{name}").make_whole(apps, None)


def test_the_migration_stores_the_defaults_of_its_day() -> None:
    master = {
        "image": "img:2",
        "storage": {"nfs": [{"path": "/a", "mountPath": "/b", "server": "s"}]},
    }
    workload = WorkloadFactory(spec_json=GIVEN | {"numWorkers": 3, "master": master})
    broken = WorkloadFactory()
    Workload.objects.filter(pk=broken.pk).update(spec_json=["no", "document"])
    with other_defaults():
        whole_documents("workloads")
    workload.refresh_from_db()
    broken.refresh_from_db()
    expected = {
        "backoffLimit": 6,
        "terminationGracePeriodSeconds": 30,
        "autoDeletionTimeAfterCompletionSeconds": 30 * 24 * 3600,
        "numWorkers": 3,
        "nodePools": [],
        "priorityClass": None,
        "worker": {
            "image": "img:1",
            "imagePullPolicy": "IfNotPresent",
            "stdin": False,
            "compute": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"},
            "connections": [TOOL | {"toolType": "custom"}],
        },
        "master": {"storage": {"nfs": [{"readOnly": True}], "pvc": []}},
    }
    assert says(workload.spec_json, expected)
    assert "slotsPerWorker" not in workload.spec_json, "it is for MPI"
    assert broken.spec_json == ["no", "document"]


def test_the_migrations_say_that_no_credential_opens_old_repositories() -> None:
    git = {"repository": "https://example.com/x", "path": "/x"}
    worker = {"image": "i", "storage": {"git": [git]}}
    workload = WorkloadFactory(spec_json={**GIVEN, "worker": worker})
    source = DataSourceFactory(spec_json={"kind": "git", "git": git})
    editor = connection.schema_editor()
    for name in ("workloads.migrations.0017_fetched", "assets.migrations.0010_data_source"):
        import_module(f"{name}_credentials").add_to_fetched(apps, editor)
    workload.refresh_from_db()
    source.refresh_from_db()
    assert workload.spec_json["worker"]["storage"]["git"] == [{**git, "credential": None}]
    assert source.spec_json["git"] == {**git, "credential": None}


def test_the_migration_says_of_what_kind_old_workloads_are() -> None:
    old = WorkloadFactory(spec_json=GIVEN)
    broken = WorkloadFactory()
    Workload.objects.filter(pk=broken.pk).update(spec_json=["no", "document"])
    import_module("workloads.migrations.0008_kinds").note_kind(apps, connection.schema_editor())
    old.refresh_from_db()
    broken.refresh_from_db()
    assert (old.spec_json, old.kind) == (GIVEN | {"kind": "distributed"}, "distributed")
    assert broken.spec_json == ["no", "document"]


def test_the_migration_makes_assets_whole_too() -> None:
    environment = EnvironmentFactory(spec_json={"image": "img:1"})
    compute = ComputeResourceFactory(spec_json={"cpuCoreRequest": 2.0})
    with other_defaults():
        whole_documents("assets")
    assert says(
        Environment.objects.get(pk=environment.pk).spec_json,
        {"image": "img:1", "imagePullPolicy": "IfNotPresent", "security": {"hostIpc": False}},
    )
    assert ComputeResource.objects.get(pk=compute.pk).spec_json == {
        "gpuDevicesRequest": 0,
        "gpuRequestType": None,
        "gpuPortionRequest": None,
        "gpuPortionLimit": None,
        "gpuMemoryRequest": None,
        "gpuMemoryLimit": None,
        "cpuCoreRequest": 2.0,
        "cpuCoreLimit": None,
        "cpuMemoryRequest": "100M",
        "cpuMemoryLimit": None,
        "largeShmRequest": False,
        "extendedResources": [],
    }
