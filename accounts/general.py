"""The general settings, which administrators make foreveryone."""

from django.db import transaction

from accounts import access
from accounts.models import GeneralSettings, User
from audit import services as audit

ROW_ID = 1


def read_settings() -> GeneralSettings:
    """Return the current settings, or the defaults if nobody has changed any."""
    return GeneralSettings.objects.filter(pk=ROW_ID).first() or GeneralSettings(pk=ROW_ID)


def update_settings(*, by: User, tolerations: bool, topology: bool) -> None:
    """Change whether the wizard asks for tolerations, and for the topology in which pods run."""
    access.require(by, "settings.update")
    with transaction.atomic():
        settings = read_settings()
        before = audit.facts(settings)
        settings.tolerations = tolerations
        settings.topology = topology
        settings.save()
        audit.record(by, "update", settings, before=before, after=audit.facts(settings))
