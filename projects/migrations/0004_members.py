"""Members of projects get their rule. The role gets its permissions after the migration."""

from typing import Any

from django.db import migrations


def give_rules(apps: Any, editor: Any) -> None:
    memberships = apps.get_model("projects", "Project").members.through.objects.all()
    role, rule = (apps.get_model("accounts", name) for name in ("AccessRole", "AccessRule"))
    researcher = role.objects.get(name="L1 researcher")
    rule.objects.bulk_create(
        rule(user_id=it.user_id, role=researcher, scope=f"project:{it.project_id}")
        for it in memberships
    )


class Migration(migrations.Migration):
    dependencies = [("projects", "0003_scheduling_rules"), ("accounts", "0003_administrators")]
    operations = [migrations.RunPython(give_rules, migrations.RunPython.noop)]
