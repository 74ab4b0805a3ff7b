"""Pull secrets of workloads say that they are no credentials."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change

PULLS = "imagePullSecrets"


def add_to_pull_secrets(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _add)


def _add(spec: Json) -> bool:
    """Whether there was any to add it to."""
    replicas = [it for it in (spec.get("worker"), spec.get("master")) if isinstance(it, dict)]
    pulls = [item for it in replicas for item in it.get(PULLS) or ()]
    for item in filter(lambda it: isinstance(it, dict), pulls):
        item.setdefault("credential", False)
        item.setdefault("assetId", None)
    return bool(pulls)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0012_credentials")]

    operations = [
        migrations.RunPython(add_to_pull_secrets, migrations.RunPython.noop, elidable=True),
    ]
