"""What administrators decide for everyone, such as what the wizard asks."""

from django.db import transaction

from accounts import access
from accounts.models import GeneralSettings, User
from audit import services as audit

THE_ROW = 1


def current() -> GeneralSettings:
    """The current settings; the defaults if nobody has changed any."""
    return GeneralSettings.objects.filter(pk=THE_ROW).first() or GeneralSettings(pk=THE_ROW)


def update(*, by: User, tolerations: bool, topology: bool) -> None:
    """Change whether the wizard asks for tolerations, and where in the topology pods run."""
    access.require(by, "settings.update")
    with transaction.atomic():
        settings = current()
        before = audit.facts(settings)
        settings.tolerations = tolerations
        settings.topology = topology
        settings.save()
        audit.record(by, "update", settings, before=before, after=audit.facts(settings))
