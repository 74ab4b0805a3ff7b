"""Stored specs of distributed trainings say that they run no batch script."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change, note


def note_batch_script(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _note)


def _note(spec: Json) -> bool:
    return spec.get("kind", "distributed") == "distributed" and note(spec, "batchScript")


class Migration(migrations.Migration):
    dependencies = [("workloads", "0020_processes_of_one_pod")]

    operations = [
        migrations.RunPython(note_batch_script, migrations.RunPython.noop, elidable=True),
    ]
