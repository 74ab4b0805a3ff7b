from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("clusters", "0003_installation"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="counted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
