"""The models of a credential and of its values."""

from typing import Any, Self

from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse

from accounts import access
from accounts.models import User
from assets.asset import Asset
from assets.fields import DocumentField
from clusters.models import Cluster
from core.database.fields import EncryptedTextField
from projects.scopes import (
    OwningScope,
    Scope,
    ScopedQuerySet,
    editable_scopes,
    scope_constraints,
    visible_scopes,
)
from spec.data.credential import CredentialSpec

SHARED = Q(owner=None)


def _personal(user: User, action: str) -> Q:
    return Q(owner=user) if access.may_with_own(user, action) else Q(pk__in=[])


class CredentialQuerySet(ScopedQuerySet["Credential"]):
    """Credentials. Only their owner can see and edit personal ones."""

    def shared(self) -> Self:
        return self.filter(SHARED)

    def visible_to(self, user: User) -> Self:
        action = self.model.permission("read")
        shared = visible_scopes(user, action) & SHARED
        return self.filter(shared | _personal(user, action)).select_related("owner")

    def editable_by(self, user: User, action: str = "update") -> Self:
        permission = self.model.permission(action)
        shared = editable_scopes(user, permission) & SHARED
        return self.filter(shared | _personal(user, permission))

    def named(self, name: str, scope: OwningScope) -> Self:
        return super().named(name, scope).filter(owner=scope.owner)


class Credential(Asset):
    """A credential without its values (``spec.credential``).

    ``values_version`` grows with each change of the values, so that the audit log can record the
    change without them. With an ``owner`` it is personal: nobody else sees or uses it, and its
    owner can use it in all projects.
    """

    RESOURCE = "credentials"

    spec_json = DocumentField(CredentialSpec, default=dict)
    values_version = models.PositiveIntegerField(default=0, editable=False)
    owner = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="own_credentials",
    )

    objects = CredentialQuerySet.as_manager()
    _entered: dict[str, str] | None = None

    class Meta:
        ordering = ["name"]
        constraints = [
            *scope_constraints("credential", shared=SHARED),
            models.UniqueConstraint(
                fields=["owner", "name"], condition=~SHARED, name="credential_name_of_owner"
            ),
            models.CheckConstraint(
                condition=SHARED | Q(scope=Scope.ACCOUNT), name="own_credential_everywhere"
            ),
        ]

    def set_scope(self, scope: OwningScope) -> None:
        super().set_scope(scope)
        self.owner = scope.owner

    def get_absolute_url(self) -> str:
        return reverse("credential-detail", args=[self.pk])

    @property
    def spec(self) -> CredentialSpec:
        return CredentialSpec.model_validate(self.spec_json)

    def issue_in(self, cluster: Cluster) -> str:
        """Why it cannot be used on a cluster; empty if it can."""
        spec = self.spec
        if spec.existing_secret and not cluster.definition.has_secrets:
            return "in an existing Secret, which only Kubernetes has"
        if spec.is_registry and not cluster.definition.pulls_images:
            return "no image is pulled here"
        return ""

    @property
    def entered(self) -> dict[str, str]:
        """New values by key, which are written when the row is saved.

        The old ones are not read here: they may be unreadable since ``SECRET_KEY`` changed.
        """
        return self._entered or {}

    @entered.setter
    def entered(self, values: dict[str, str]) -> None:
        self._entered = {key: value for key, value in values.items() if value}

    def save(self, *args: Any, **words: Any) -> None:
        self.values_version += bool(self.entered)
        with transaction.atomic():
            super().save(*args, **words)
            self._store_values()
        self._entered = None

    def _store_values(self) -> None:
        """Store the entered values, keep the other values of its present keys, and delete
        the rest."""
        spec = self.spec
        rows = SecretValue.objects.filter(credential=self)
        rows.exclude(key__in=() if spec.existing_secret else spec.names).delete()
        for key, value in self.entered.items():
            if key in spec.names and not spec.existing_secret:
                SecretValue.objects.update_or_create(
                    credential=self, key=key, defaults={"value": value}
                )


class SecretValue(models.Model):
    """One value of a credential, in a row of its own, so that listing credentials reads none."""

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
