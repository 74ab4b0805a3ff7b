"""Environments that are stored have no readiness probe."""

from django.db import migrations


def add_none(apps, schema_editor):
    rows = apps.get_model('assets', 'Environment').objects.using(schema_editor.connection.alias)
    for row in rows.only('spec_json').iterator():
        if isinstance(row.spec_json, dict) and 'probes' not in row.spec_json:
            row.spec_json['probes'] = {'readiness': None, 'liveness': None, 'startup': None}
            row.save(update_fields=['spec_json'])


class Migration(migrations.Migration):

    dependencies = [('assets', '0014_own_credentials')]

    operations = [migrations.RunPython(add_none, migrations.RunPython.noop, elidable=True)]
