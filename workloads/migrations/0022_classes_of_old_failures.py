"""Workloads that failed before there were classes of failures get theirs, from logs still here."""

from dataclasses import asdict

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.diagnosis.record import diagnose


def classify(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    failed = rows.filter(phase="Failed", failure_class="").prefetch_related("ranks")
    for workload in failed.iterator(chunk_size=100):
        diagnosis = diagnose(workload, workload.ranks.all())
        if diagnosis:
            workload.failure_class = diagnosis.failure.id
            workload.failure_line = asdict(diagnosis.line)
            workload.save(update_fields=["failure_class", "failure_line"])


class Migration(migrations.Migration):
    dependencies = [("workloads", "0021_batch_script")]

    operations = [
        migrations.RunPython(classify, migrations.RunPython.noop, elidable=True),
    ]
