"""Deleted workloads are looked at, too: by an index, and with the phase in which each ended."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ENDED = ("Completed", "Failed", "Stopped")


def note_ends(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    for workload in rows.filter(phase="Deleting", deleted_at__isnull=False).only("pk"):
        phases = workload.events.exclude(phase__in=["", "Deleting"]).order_by("-pk")
        last = phases.values("phase", "reason", "message").first()
        end = last if last and last["phase"] in ENDED else {"phase": "Stopped"}
        rows.filter(pk=workload.pk).update(**end)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0006_draft_versions")]

    operations = [
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", False)),
                fields=["deleted_at", "created_at", "id"],
                name="table_of_deleted",
            ),
        ),
        migrations.RunPython(note_ends, migrations.RunPython.noop, elidable=True),
    ]
