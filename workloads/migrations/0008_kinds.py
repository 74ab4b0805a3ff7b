"""Every workload says of what kind it is; those that are there are distributed trainings."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import workloads.models.choices

AT_ONCE = 500


def note_kind(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    changed = []
    for workload in rows.only("spec_json").iterator(chunk_size=AT_ONCE):
        if isinstance(workload.spec_json, dict) and "kind" not in workload.spec_json:
            workload.spec_json = {"kind": "distributed", **workload.spec_json}
            changed.append(workload)
        if len(changed) == AT_ONCE:
            rows.bulk_update(changed, ["spec_json"])
            changed = []
    rows.bulk_update(changed, ["spec_json"])


class Migration(migrations.Migration):
    dependencies = [("workloads", "0007_table_of_deleted")]

    operations = [
        migrations.AddField(
            model_name="workload",
            name="kind",
            field=models.CharField(
                choices=workloads.models.choices.kinds, default="distributed", max_length=20
            ),
        ),
        migrations.AlterField(
            model_name="workload",
            name="framework",
            field=models.CharField(
                blank=True, choices=workloads.models.choices.frameworks, max_length=20
            ),
        ),
        migrations.RunPython(note_kind, migrations.RunPython.noop, elidable=True),
    ]
