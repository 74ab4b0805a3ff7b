"""Environments and compute resources hold every value, so that no later default changes them."""

from django.db import migrations

from assets.migrations._whole_documents import fill


def make_whole(apps, schema_editor):
    fill(apps.get_model('assets', 'Environment'), 'Environment')
    fill(apps.get_model('assets', 'ComputeResource'), 'Compute')


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0003_drafts_by_kind'),
    ]

    operations = [
        migrations.RunPython(make_whole, migrations.RunPython.noop),
    ]
