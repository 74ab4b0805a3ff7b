"""The permissions of assets become those of each kind of asset. Predefined roles get theirs after
the migration."""

from typing import Any

from django.db import migrations

KINDS = ("environments", "compute-resources", "data-sources", "credentials", "templates")


def split_permissions(apps: Any, editor: Any) -> None:
    for model, column in (("AccessRole", "permissions"), ("AccessKey", "scopes")):
        for row in apps.get_model("accounts", model).objects.all():
            permissions = getattr(row, column)
            if any(name.startswith("assets.") for name in permissions):
                setattr(row, column, sorted(set(_split(permissions))))
                row.save(update_fields=[column])


def _split(permissions: list[str]) -> list[str]:
    split = []
    for permission in permissions:
        resource, _, action = permission.partition(".")
        resources = KINDS if resource == "assets" else (resource,)
        split += [f"{name}.{action}" for name in resources]
    return split


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_no_role")]
    operations = [migrations.RunPython(split_permissions, migrations.RunPython.noop)]
