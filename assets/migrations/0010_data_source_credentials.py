"""Repositories and buckets of data sources say that they are opened by no credential."""

import django.db.models.deletion
from django.db import migrations, models


def add_to_fetched(apps, schema_editor):
    rows = apps.get_model('assets', 'DataSource').objects.using(schema_editor.connection.alias)
    for row in rows.only('spec_json').iterator():
        parts = [row.spec_json.get(kind) for kind in ('git', 's3')] if isinstance(row.spec_json, dict) else ()
        for part in filter(lambda it: isinstance(it, dict), parts):
            part.setdefault('credential', None)
            row.save(update_fields=['spec_json'])


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0009_updated_by'),
    ]

    operations = [
        migrations.CreateModel(
            name='DataSourceAsset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('asset_id', models.UUIDField()),
                ('role', models.CharField(blank=True, max_length=20)),
                ('data_source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='assets.datasource')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'asset_id'], name='data_source_asset')],
                'constraints': [models.UniqueConstraint(fields=('data_source', 'role', 'kind', 'asset_id'), name='data_source_asset_once')],
            },
        ),
        migrations.RunPython(add_to_fetched, migrations.RunPython.noop, elidable=True),
    ]
