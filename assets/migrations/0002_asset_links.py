"""The assets that a template was made with: one table for every kind, in place of one for each."""

import django.db.models.deletion
from django.db import migrations, models

KINDS = {"environment": "environments", "compute": "compute_resources"}


def to_links(apps, schema_editor):
    alias = schema_editor.connection.alias
    Template = apps.get_model("assets", "Template")
    TemplateAsset = apps.get_model("assets", "TemplateAsset")
    for template in Template.objects.using(alias).only("draft_json").iterator():
        links = []
        for kind, field in KINDS.items():
            for asset_id in getattr(template, field).values_list("pk", flat=True):
                links += [(kind, asset_id, role) for role in roles_of(template.draft_json, kind, asset_id)]
        TemplateAsset.objects.using(alias).bulk_create(
            TemplateAsset(template=template, kind=kind, asset_id=asset_id, role=role)
            for kind, asset_id, role in links
        )


def roles_of(draft, kind, asset_id):
    """Where the draft names it; of the workers where it does not say."""
    roles = [
        role
        for role in ("worker", "master")
        if (draft.get(role) or {}).get(kind) == str(asset_id)
    ]
    return roles or ["worker"]


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='TemplateAsset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('asset_id', models.UUIDField()),
                ('role', models.CharField(blank=True, max_length=20)),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='assets.template')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'asset_id'], name='template_asset')],
                'constraints': [models.UniqueConstraint(fields=('template', 'role', 'kind', 'asset_id'), name='template_asset_once')],
            },
        ),
        migrations.RunPython(to_links, migrations.RunPython.noop),
        migrations.RemoveField(model_name='template', name='compute_resources'),
        migrations.RemoveField(model_name='template', name='environments'),
    ]
