"""What was stored before there was a table of kinds is carried over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

OLD = "old"
BEFORE = [("assets", "0001_initial"), ("workloads", "0001_initial")]
AFTER = [("assets", "0003_drafts_by_kind"), ("workloads", "0003_drafts_by_kind")]
SCRATCH = {"worker": {"environment": None, "compute": None, "values": {"args": "1"}}}


def migrate(targets: list[tuple[str, str]]) -> Any:
    """The models as they were after these migrations."""
    executor = MigrationExecutor(connections[OLD])
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@pytest.fixture
def rows(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Any]:
    """A template, a workload and a draft of one environment and one compute resource."""
    ours = connections.databases["default"]
    connections.databases[OLD] = {
        **ours,
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": tmp_path / "old.sqlite3",
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():
        yield _fill(migrate(BEFORE))
        connections[OLD].close()
    del connections.databases[OLD]


def _fill(apps: Any) -> dict[str, UUID]:
    def add(app: str, model: str, **values: Any) -> Any:
        return apps.get_model(app, model).objects.using(OLD).create(**values)

    cluster = add("clusters", "Cluster", name="local")
    department = add("projects", "Department", name="default", cluster=cluster)
    project = add("projects", "Project", name="a", cluster=cluster, department=department)
    owner = add("accounts", "User", username="ada")
    home = {"cluster": cluster, "project": project, "name": "base"}
    environment = add("assets", "Environment", **home)
    compute = add("assets", "ComputeResource", **home)
    both = {"environment": str(environment.pk), "compute": str(compute.pk), "values": {}}
    draft = {"worker": both, "master": {"environment": str(environment.pk), "compute": None}}
    template = add("assets", "Template", **home, draft_json=draft)
    workload = add(
        "workloads",
        "Workload",
        name="train",
        project=project,
        cluster=cluster,
        template=template,
        draft_json=draft,
        spec_json={},
        num_pods=1,
    )
    for made in (template, workload):
        made.environments.add(environment)
        made.compute_resources.add(compute)
    add("workloads", "Draft", owner=owner, document=SCRATCH)
    return {"environment": environment.pk, "compute": compute.pk, "template": template.pk}


def test_links_and_drafts_name_assets_by_kind(rows: dict[str, UUID]) -> None:
    apps = migrate(AFTER)
    named = {
        ("worker", "environment", rows["environment"]),
        ("worker", "compute", rows["compute"]),
        ("master", "environment", rows["environment"]),
    }
    columns = ("role", "kind", "asset_id")
    links = apps.get_model("assets", "TemplateAsset").objects.using(OLD)
    assert set(links.values_list(*columns)) == named
    links = apps.get_model("workloads", "WorkloadAsset").objects.using(OLD)
    assert set(links.values_list(*columns)) == named | {("", "template", rows["template"])}
    chosen = {"environment": str(rows["environment"]), "compute": str(rows["compute"])}
    for app, model in (("assets", "Template"), ("workloads", "Workload")):
        draft = apps.get_model(app, model).objects.using(OLD).get().draft_json
        assert draft["worker"] == {"assets": chosen, "values": {}}
        assert draft["master"] == {"assets": {"environment": chosen["environment"]}}
    document = apps.get_model("workloads", "Draft").objects.using(OLD).get().document
    assert document == {"worker": {"assets": {}, "values": {"args": "1"}}}
