from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workloads", "0005_failure_class")]

    operations = [
        migrations.AddField("draft", "version", models.PositiveIntegerField(default=0)),
        migrations.AddField(
            "draft", "writer", models.CharField(blank=True, default="", max_length=36)
        ),
    ]
