"""Drafts name assets by kind: ``{"assets": {"environment": …}}`` in place of a key for each."""

from django.db import migrations


def by_kind(draft):
    """The draft with the assets of each kind of pod in one mapping."""
    roles = {role: _by_kind(draft[role]) for role in ("worker", "master") if draft.get(role)}
    return {**draft, **roles}


def _by_kind(replica):
    rest = {key: value for key, value in replica.items() if key not in ("environment", "compute")}
    chosen = {key: replica[key] for key in ("environment", "compute") if replica.get(key)}
    return {**rest, "assets": {**rest.get("assets", {}), **chosen}}


def rewrite(apps, schema_editor):
    for model, column in (("Workload", "draft_json"), ("Draft", "document")):
        rows = apps.get_model("workloads", model).objects.using(schema_editor.connection.alias)
        for row in rows.only(column).iterator():
            rows.filter(pk=row.pk).update(**{column: by_kind(getattr(row, column))})



class Migration(migrations.Migration):

    dependencies = [
        ('workloads', '0002_asset_links'),
    ]

    operations = [migrations.RunPython(rewrite, migrations.RunPython.noop)]
