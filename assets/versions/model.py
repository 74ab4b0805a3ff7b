"""A stored version of an asset."""

from django.db import models

from accounts.models import User


class AssetVersion(models.Model):
    """An asset of any kind after a change. ``number`` counts its versions from 1. ``columns`` has
    its name, description and the kind's columns, but no values of credentials."""

    kind = models.CharField(max_length=40)
    asset_id = models.UUIDField()
    number = models.PositiveIntegerField()
    columns = models.JSONField()
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["kind", "asset_id", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "asset_id", "number"], name="one_version_a_number"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.number}"
