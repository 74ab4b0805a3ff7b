"""Stored specs say that nothing limits the time they run."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

AT_ONCE = 500


def note_time_limit(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    changed = []
    for workload in rows.only("spec_json").iterator(chunk_size=AT_ONCE):
        if isinstance(workload.spec_json, dict) and "timeLimitSeconds" not in workload.spec_json:
            workload.spec_json = {**workload.spec_json, "timeLimitSeconds": None}
            changed.append(workload)
        if len(changed) == AT_ONCE:
            rows.bulk_update(changed, ["spec_json"])
            changed = []
    rows.bulk_update(changed, ["spec_json"])


class Migration(migrations.Migration):
    dependencies = [("workloads", "0009_verdicts")]

    operations = [
        migrations.RunPython(note_time_limit, migrations.RunPython.noop, elidable=True),
    ]
