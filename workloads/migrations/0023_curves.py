"""How a few numbers of a training went, for its row in the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workloads", "0022_classes_of_old_failures")]

    operations = [
        migrations.AddField(
            model_name="workload",
            name="curves",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
