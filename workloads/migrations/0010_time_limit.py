"""Stored specs say that nothing limits the time they run."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change, note


def note_time_limit(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _note)


def _note(spec: Json) -> bool:
    return note(spec, "timeLimitSeconds")


class Migration(migrations.Migration):
    dependencies = [("workloads", "0009_verdicts")]

    operations = [
        migrations.RunPython(note_time_limit, migrations.RunPython.noop, elidable=True),
    ]
