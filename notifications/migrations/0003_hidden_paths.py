"""Take the paths of addresses of webhooks, which may be secrets, out of the audit log."""

from urllib.parse import urlsplit

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def hide(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    entries = apps.get_model("audit", "AuditEntry")._default_manager.using(editor.connection.alias)
    for entry in entries.filter(target_kind="webhook").iterator():
        if "url" in entry.before or "url" in entry.after:
            entry.before, entry.after = _without_path(entry.before), _without_path(entry.after)
            entry.save(update_fields=["before", "after"])


def _without_path(facts: dict[str, str]) -> dict[str, str]:
    parts = urlsplit(facts.get("url", ""))
    if not (parts.path.strip("/") or parts.query):
        return facts
    return facts | {"url": f"{parts.scheme}://{parts.netloc}/***"}


class Migration(migrations.Migration):
    dependencies = [("notifications", "0002_delivery_log"), ("audit", "0001_initial")]
    operations = [migrations.RunPython(hide, migrations.RunPython.noop)]
