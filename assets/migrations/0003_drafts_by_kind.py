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
    templates = apps.get_model("assets", "Template").objects.using(schema_editor.connection.alias)
    for template in templates.only("draft_json").iterator():
        templates.filter(pk=template.pk).update(draft_json=by_kind(template.draft_json))



class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0002_asset_links'),
    ]

    operations = [migrations.RunPython(rewrite, migrations.RunPython.noop)]
