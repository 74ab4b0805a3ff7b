"""Repositories and buckets of workloads say that they are opened by no credential."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

AT_ONCE = 500
FETCHED = ("git", "s3")


def add_to_fetched(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    changed = []
    for workload in rows.only("spec_json").iterator(chunk_size=AT_ONCE):
        if isinstance(workload.spec_json, dict) and _add(workload.spec_json):
            changed.append(workload)
        if len(changed) == AT_ONCE:
            rows.bulk_update(changed, ["spec_json"])
            changed = []
    rows.bulk_update(changed, ["spec_json"])


def _add(spec: dict[str, Any]) -> bool:
    """Whether there was any to add it to."""
    replicas = [it for it in (spec.get("worker"), spec.get("master")) if isinstance(it, dict)]
    storages = [it["storage"] for it in replicas if isinstance(it.get("storage"), dict)]
    items = [item for it in storages for key in FETCHED for item in it.get(key) or ()]
    for item in filter(lambda it: isinstance(it, dict), items):
        item.setdefault("credential", None)
    return bool(items)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0016_idle_limit")]

    operations = [
        migrations.RunPython(add_to_fetched, migrations.RunPython.noop, elidable=True),
    ]
