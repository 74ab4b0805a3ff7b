"""The predefined roles are created, and administrators of the account get their rule. The roles get
their permissions after the migration."""

from typing import Any

from django.db import migrations

# Created here, in this order, so that a new database and an upgraded one give them the same ids.
ROLES = (
    "System administrator",
    "Department administrator",
    "Department viewer",
    "Editor",
    "Research manager",
    "L1 researcher",
    "L2 researcher",
    "Viewer",
    "Environment administrator",
    "Compute resource administrator",
    "Data source administrator",
    "Credentials administrator",
    "Template administrator",
)


def give_rules(apps: Any, editor: Any) -> None:
    user, role, rule = (apps.get_model("accounts", name) for name in ("User", "AccessRole", "AccessRule"))
    for name in ROLES:
        role.objects.get_or_create(name=name, defaults={"predefined": True})
    administrator = role.objects.get(name="System administrator")
    rule.objects.bulk_create(
        rule(user=it, role=administrator, scope="account")
        for it in user.objects.filter(role="administrator")
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_access_rules")]
    operations = [migrations.RunPython(give_rules, migrations.RunPython.noop)]
