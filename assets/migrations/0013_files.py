"""ConfigMaps and Secrets of data sources are those that exist."""

from django.db import migrations


def add_to_objects(apps, schema_editor):
    rows = apps.get_model('assets', 'DataSource').objects.using(schema_editor.connection.alias)
    for row in rows.only('spec_json').iterator():
        for kind, field, value in (('configMapVolume', 'files', []), ('secretVolume', 'credential', None)):
            part = row.spec_json.get(kind) if isinstance(row.spec_json, dict) else None
            if isinstance(part, dict):
                part.setdefault(field, value)
                row.save(update_fields=['spec_json'])


class Migration(migrations.Migration):

    dependencies = [('assets', '0012_known_hosts')]

    operations = [migrations.RunPython(add_to_objects, migrations.RunPython.noop, elidable=True)]
