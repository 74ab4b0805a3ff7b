"""The manifest that a workload was read from, where it was."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workloads", "0023_curves")]

    operations = [
        migrations.AddField(
            model_name="workload",
            name="manifest_json",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
