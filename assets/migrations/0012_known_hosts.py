"""Credentials of before know no hosts."""

from django.db import migrations


def add_to_credentials(apps, schema_editor):
    rows = apps.get_model('assets', 'Credential').objects.using(schema_editor.connection.alias)
    for row in rows.only('spec_json').iterator():
        if isinstance(row.spec_json, dict):
            row.spec_json = {'knownHosts': None, **row.spec_json}
            row.save(update_fields=['spec_json'])


class Migration(migrations.Migration):

    dependencies = [('assets', '0011_versions')]

    operations = [migrations.RunPython(add_to_credentials, migrations.RunPython.noop, elidable=True)]
