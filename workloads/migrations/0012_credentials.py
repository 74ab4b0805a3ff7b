"""Variables of workloads say that they take nothing from a credential."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workloads.migrations._specs import Json, change

VARIABLES = "environmentVariables"


def add_to_variables(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    change(apps, editor, _add)


def _add(spec: Json) -> bool:
    """Whether there was any to add it to."""
    replicas = [it for it in (spec.get("worker"), spec.get("master")) if isinstance(it, dict)]
    variables = [item for it in replicas for item in it.get(VARIABLES) or ()]
    for item in filter(lambda it: isinstance(it, dict), variables):
        item.setdefault("credential", None)
    return bool(variables)


class Migration(migrations.Migration):
    dependencies = [("workloads", "0011_admission_decisions")]

    operations = [
        migrations.RunPython(add_to_variables, migrations.RunPython.noop, elidable=True),
    ]
