from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_groups"),
    ]

    operations = [
        migrations.CreateModel(
            name="GeneralSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tolerations", models.BooleanField(default=False, verbose_name="Tolerations")),
                ("topology", models.BooleanField(default=False, verbose_name="Topology")),
            ],
            options={
                "verbose_name": "general settings",
            },
        ),
    ]
