import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assets", "0008_registries"),
        ("workloads", "0013_pull_credentials"),
    ]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="edits",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="assets.template",
            ),
        ),
    ]
