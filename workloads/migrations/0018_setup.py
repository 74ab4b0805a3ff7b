"""Stored specs say that nothing is run before the program."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change, note


def note_setup(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _note)


def _note(spec: Json) -> bool:
    return note(spec, "setup", [])


class Migration(migrations.Migration):
    dependencies = [("workloads", "0017_fetched_credentials")]

    operations = [
        migrations.RunPython(note_setup, migrations.RunPython.noop, elidable=True),
    ]
