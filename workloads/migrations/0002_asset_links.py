"""The assets that a workload was made with: one table for every kind, in place of one for each."""

import django.db.models.deletion
from django.db import migrations, models

KINDS = {"environment": "environments", "compute": "compute_resources"}


def to_links(apps, schema_editor):
    alias = schema_editor.connection.alias
    Workload = apps.get_model("workloads", "Workload")
    WorkloadAsset = apps.get_model("workloads", "WorkloadAsset")
    for workload in Workload.objects.using(alias).only("draft_json", "template_id").iterator():
        links = []
        for kind, field in KINDS.items():
            for asset_id in getattr(workload, field).values_list("pk", flat=True):
                links += [(kind, asset_id, role) for role in roles_of(workload.draft_json, kind, asset_id)]
        if workload.template_id:
            links.append(("template", workload.template_id, ""))
        WorkloadAsset.objects.using(alias).bulk_create(
            WorkloadAsset(workload=workload, kind=kind, asset_id=asset_id, role=role)
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
        ('workloads', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkloadAsset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('asset_id', models.UUIDField()),
                ('role', models.CharField(blank=True, max_length=20)),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='workloads.workload')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'asset_id'], name='workload_asset')],
                'constraints': [models.UniqueConstraint(fields=('workload', 'role', 'kind', 'asset_id'), name='workload_asset_once')],
            },
        ),
        migrations.RunPython(to_links, migrations.RunPython.noop),
        migrations.RemoveField(model_name='workload', name='compute_resources'),
        migrations.RemoveField(model_name='workload', name='environments'),
    ]
