"""An asset as it was after one of its changes."""

from django.db import models

from accounts.models import User


class AssetVersion(models.Model):
    """``kind`` and ``asset_id`` name an asset of any kind, ``number`` counts its versions from 1.
    ``columns`` are what people gave it: its name, its description, and what its kind keeps. Values
    of credentials are none of them."""

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
