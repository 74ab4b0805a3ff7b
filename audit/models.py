"""The audit log: who did what, and when. Rows are created, but never changed or deleted."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class AuditEntry(models.Model):
    """One action of a user. Names are stored as they were, because the objects may since have been
    renamed or deleted.

    ``before`` and ``after`` contain the changed values, without secrets. ``before`` is empty if the
    object was created, ``after`` if it was deleted. ``by_name`` is empty for commands on the
    machine itself."""

    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True)
    verb = models.CharField(max_length=40)
    target_kind = models.CharField(max_length=60)
    target_id = models.CharField(max_length=40)
    target_name = models.CharField(max_length=200)
    before = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    after = models.JSONField(default=dict, encoder=DjangoJSONEncoder)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"
        # REST finds the entries between two times by it, and the page the ids of the first and last
        # day.
        indexes = [
            models.Index(
                fields=["at", "by_name", "verb", "target_kind", "target_name"], name="audit_search"
            )
        ]

    def __str__(self) -> str:
        return f"{self.by_name or 'Trainyard'}: {self.verb} {self.target_kind} {self.target_name}"
