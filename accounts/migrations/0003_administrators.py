"""Administrators of the account get their rule. The roles get their permissions after the
migration."""

from typing import Any

from django.db import migrations


def give_rules(apps: Any, editor: Any) -> None:
    user, role, rule = (apps.get_model("accounts", name) for name in ("User", "AccessRole", "AccessRule"))
    administrators = list(user.objects.filter(role="administrator"))
    if not administrators:
        return
    administrator, _ = role.objects.get_or_create(
        name="System administrator", defaults={"predefined": True}
    )
    rule.objects.bulk_create(
        rule(user=it, role=administrator, scope="account") for it in administrators
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_access_rules")]
    operations = [migrations.RunPython(give_rules, migrations.RunPython.noop)]
