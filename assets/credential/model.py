"""The row of a credential, and that of its values."""

from typing import Any

from django.db import models, transaction
from django.urls import reverse

from assets.asset import Asset
from core.fields import EncryptedTextField
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.credential import CredentialSpec


class Credential(Asset):
    """What is known of it (``spec.credential``). ``values_version`` grows with each change of the
    values, so that the audit log tells of it without them."""

    spec_json = models.JSONField(default=dict)
    values_version = models.PositiveIntegerField(default=0, editable=False)

    objects = ScopedQuerySet["Credential"].as_manager()
    _entered: dict[str, str] | None = None

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("credential")

    def get_absolute_url(self) -> str:
        return reverse("credential-detail", args=[self.pk])

    @property
    def spec(self) -> CredentialSpec:
        return CredentialSpec.model_validate(self.spec_json)

    @property
    def entered(self) -> dict[str, str]:
        """New values by key, which are written when it is saved. Nothing reads the old ones here:
        they may be unreadable since ``SECRET_KEY`` changed."""
        return self._entered or {}

    @entered.setter
    def entered(self, values: dict[str, str]) -> None:
        self._entered = {key: value for key, value in values.items() if value}

    def save(self, *args: Any, **words: Any) -> None:
        self.values_version += bool(self.entered)
        with transaction.atomic():
            super().save(*args, **words)
            self._keep_values()
        self._entered = None

    def _keep_values(self) -> None:
        """Of the keys that it has now: the values that were entered, and those kept so far."""
        spec = self.spec
        rows = SecretValue.objects.filter(credential=self)
        rows.exclude(key__in=() if spec.existing_secret else spec.names).delete()
        for key, value in self.entered.items():
            if key in spec.names and not spec.existing_secret:
                SecretValue.objects.update_or_create(
                    credential=self, key=key, defaults={"value": value}
                )


class SecretValue(models.Model):
    """One value of a credential. A row of its own, so that listing credentials reads none."""

    credential = models.ForeignKey(
        Credential, on_delete=models.CASCADE, related_name="secret_values"
    )
    key = models.CharField(max_length=253)
    value = EncryptedTextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["credential", "key"], name="one_value_of_a_key")
        ]

    def __str__(self) -> str:
        return f"{self.credential}: {self.key}"
