"""The path of an address, which may be a secret, is not in the audit log."""

from typing import Any

import pytest

from audit.models import AuditEntry
from notifications.models import Webhook
from notifications.webhooks import services
from projects.models import Project
from projects.scopes import OwningScope
from tests.factories import ProjectFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
SECRET = "T0C4N/xoxb-nobody-reads"
SHOWN = "https://hooks.example.com/***"
FACTS: dict[str, Any] = {"name": "chat", "events": ["*"], "pending_minutes": 30}


@pytest.fixture
def project() -> Project:
    return ProjectFactory(members=[UserFactory()])


def last() -> tuple[str | None, str | None]:
    """What the newest entry says of the address, before and after."""
    entry = AuditEntry.objects.filter(target_kind="webhook").latest("pk")
    assert SECRET not in str(vars(entry))
    return entry.before.get("url"), entry.after.get("url")


def test_the_audit_log_has_the_address_without_its_path(project: Project) -> None:
    by = project.members.get()
    url = f"https://hooks.example.com/{SECRET}?key={SECRET}"
    webhook = services.create(by=by, place=OwningScope(project), url=url, **FACTS)
    assert last() == (None, SHOWN)
    services.update(webhook, by=by, url=f"{url}2", enabled=True, **FACTS)
    assert last() == (SHOWN, f"{SHOWN} (another path)")
    services.update(webhook, by=by, url="https://example.com", enabled=True, **FACTS)
    assert last() == (SHOWN, "https://example.com")
    services.update(webhook, by=by, url=url, enabled=True, **FACTS)
    services.delete(webhook, by=by)
    assert last() == (SHOWN, None)


def test_an_address_without_a_path_is_shown_as_it_is() -> None:
    for url in ("https://example.com", "https://example.com:8443/"):
        assert Webhook(url=url).masked_url == url
