"""Stored specs of standard trainings say that nobody asked for processes per pod."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change, note


def note_processes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _note)


def _note(spec: Json) -> bool:
    return spec.get("kind") == "training" and note(spec, "processesPerPod")


class Migration(migrations.Migration):
    dependencies = [("workloads", "0019_files")]

    operations = [
        migrations.RunPython(note_processes, migrations.RunPython.noop, elidable=True),
    ]
