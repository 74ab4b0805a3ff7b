"""Stored specs of workspaces say that they have no idle limit."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change, note


def note_idle_limit(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _note)


def _note(spec: Json) -> bool:
    return spec.get("kind") == "workspace" and note(spec, "idleLimitSeconds")


class Migration(migrations.Migration):
    dependencies = [("workloads", "0015_processes_per_pod")]

    operations = [
        migrations.RunPython(note_idle_limit, migrations.RunPython.noop, elidable=True),
    ]
