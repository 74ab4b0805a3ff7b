"""The row that keeps a cause is called after what it is. Its table stays, for the version before
uses it while the new one comes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("workloads", "0025_limits")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Cause", "CausePeriod"),
                migrations.AlterModelTable("CausePeriod", "workloads_cause"),
            ]
        )
    ]
