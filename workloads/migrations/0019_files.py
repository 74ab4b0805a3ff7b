"""ConfigMaps and Secrets of workloads are those that exist."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import change

ADDED: tuple[tuple[str, str, Any], ...] = (
    ("configMapVolume", "files", []),
    ("secretVolume", "credential", None),
)


def add_to_objects(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _add)


def _add(spec: dict[str, Any]) -> bool:
    """Whether there was any to add it to."""
    replicas = [it for it in (spec.get("worker"), spec.get("master")) if isinstance(it, dict)]
    storages = [it["storage"] for it in replicas if isinstance(it.get("storage"), dict)]
    lists = [(it.get(key) or (), field, value) for it in storages for key, field, value in ADDED]
    for items, field, value in lists:
        for item in filter(lambda it: isinstance(it, dict), items):
            item.setdefault(field, value)
    return any(items for items, _, _ in lists)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0018_setup")]

    operations = [
        migrations.RunPython(add_to_objects, migrations.RunPython.noop, elidable=True),
    ]
