"""The limits of a spec in columns of their own."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

AT_ONCE = 500


def copy_limits(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    limited = []
    for workload in rows.only("spec_json").iterator(chunk_size=AT_ONCE):
        spec = workload.spec_json if isinstance(workload.spec_json, dict) else {}
        if not spec.get("batchScript"):  # whose limit Slurm holds
            workload.time_limit_seconds = _seconds(spec.get("timeLimitSeconds"))
        workload.idle_limit_seconds = _seconds(spec.get("idleLimitSeconds"))
        if workload.time_limit_seconds or workload.idle_limit_seconds:
            limited.append(workload)
    columns = ["time_limit_seconds", "idle_limit_seconds"]
    rows.bulk_update(limited, columns, batch_size=AT_ONCE)


def _seconds(limit: object) -> int | None:
    """A spec that was written under other rules may say anything."""
    return limit if isinstance(limit, int) and 0 < limit < 2**31 else None


class Migration(migrations.Migration):
    dependencies = [("workloads", "0024_manifest")]

    operations = [
        *(
            migrations.AddField(
                model_name="workload",
                name=f"{limit}_limit_seconds",
                field=models.PositiveIntegerField(blank=True, editable=False, null=True),
            )
            for limit in ("time", "idle")
        ),
        migrations.RunPython(copy_limits, migrations.RunPython.noop, elidable=True),
        *(
            migrations.AddIndex(
                model_name="workload",
                index=models.Index(
                    fields=["phase"],
                    condition=Q(("deleted_at", None), (f"{limit}_limit_seconds__isnull", False)),
                    name=f"workload_{limit}_limit",
                ),
            )
            for limit in ("time", "idle")
        ),
    ]
