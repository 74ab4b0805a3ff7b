"""Specs hold every value, so that no later default changes a workload that is there."""

from django.db import migrations

from assets.migrations._whole_documents import fill


def make_whole(apps, schema_editor):
    fill(apps.get_model('workloads', 'Workload'), 'WorkloadSpec')


class Migration(migrations.Migration):

    dependencies = [
        ('workloads', '0003_drafts_by_kind'),
    ]

    operations = [
        migrations.RunPython(make_whole, migrations.RunPython.noop),
    ]
