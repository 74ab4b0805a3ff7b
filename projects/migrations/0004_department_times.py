from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    """Departments of before get the moment of the upgrade: nobody knows better."""

    dependencies = [("projects", "0003_default_node_pools")]

    operations = [
        migrations.AddField(
            model_name="department",
            name="created_at",
            field=models.DateTimeField(auto_now_add=True, default=timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="department",
            name="updated_at",
            field=models.DateTimeField(auto_now=True),
        ),
    ]
