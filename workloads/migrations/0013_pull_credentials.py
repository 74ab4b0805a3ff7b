"""Pull secrets of workloads say that they are no credentials."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

AT_ONCE = 500
PULLS = "imagePullSecrets"


def add_to_pull_secrets(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
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
    pulls = [item for it in replicas for item in it.get(PULLS) or ()]
    for item in filter(lambda it: isinstance(it, dict), pulls):
        item.setdefault("credential", False)
        item.setdefault("assetId", None)
    return bool(pulls)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0012_credentials")]

    operations = [
        migrations.RunPython(add_to_pull_secrets, migrations.RunPython.noop, elidable=True),
    ]
