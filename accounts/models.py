"""People and their keys."""

from enum import StrEnum

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts import access
from core.database.choices import Choices, values_of
from core.database.fields import EncryptedTextField
from core.database.prepared import prepared


class User(AbstractUser):
    """Someone who signs in. What they may do is asked of ``accounts.access``, not of the role."""

    role = models.CharField(max_length=20, choices=access.roles, default=access.RESEARCHER.name)
    #: Sessions and tokens from before are of no use any more.
    signed_out_at = models.DateTimeField(null=True, blank=True, editable=False)
    #: By which a program acts for them, on the object that this request has of them.
    acting_key: "AccessKey | None" = None

    def __str__(self) -> str:
        return self.username

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """What sessions and tokens carry: another after a new password, or when someone else signed
        this person out."""
        mark: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]  # no stub
        if self.signed_out_at is None:
            return mark
        salt = "accounts.models.User.signed_out_at"
        said = f"{mark}{self.signed_out_at.isoformat()}"
        return salted_hmac(salt, said, secret=secret, algorithm="sha256").hexdigest()


@prepared
def active(pk: int) -> models.QuerySet[User]:
    """The one of this id, if they may sign in. Each request asks."""
    return User.objects.filter(pk=pk, is_active=True)


class AccessKey(models.Model):
    """A key for programs that act for a person. Only a hash of the secret is kept. ``scopes`` are
    the permissions that it has of the person's; without any it has all of them."""

    name = models.CharField(max_length=63)
    client_id = models.CharField(max_length=64, unique=True)
    secret_hash = models.CharField(max_length=255)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="access_keys")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    scopes = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def has_ended(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_limited(self) -> bool:
        return bool(self.scopes)

    @property
    def only_reads(self) -> bool:
        return self.is_limited and all(scope.endswith(".read") for scope in self.scopes)

    def covers(self, action: str) -> bool:
        """Whether a program may do it with this key, if its owner may."""
        return not self.scopes or action in self.scopes

    def clean(self) -> None:
        unknown = ", ".join(sorted(set(self.scopes) - access.PERMISSIONS))
        if unknown:
            every = ", ".join(sorted(access.PERMISSIONS))
            raise ValidationError({"scopes": f"There is no permission {unknown}. Known: {every}."})
        if self._state.adding and self.has_ended:
            raise ValidationError({"expires_at": "Enter a time in the future."})


class DeviceAnswer(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    DONE = "done"  # its key was collected


def device_answers() -> Choices:
    return values_of(DeviceAnswer)


class DeviceSignIn(models.Model):
    """A command line that waits to be signed in. ``code`` is what a person sees in it and approves;
    of the secret by which it asks only a hash is kept. ``name`` is what its key will be called."""

    name = models.CharField(max_length=63)
    code = models.CharField(max_length=9, unique=True)
    secret_hash = models.CharField(max_length=64, unique=True)
    answer = models.CharField(max_length=8, choices=device_answers, default=DeviceAnswer.WAITING)
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "sign-in by code"

    def __str__(self) -> str:
        return self.name


class KeptAnswer(models.Model):
    """What a call with an ``Idempotency-Key`` was answered, encrypted, as the answer of a new
    access key has its secret. ``asked`` is a hash of the request."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="kept_answers")
    key = models.CharField(max_length=255)
    asked = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = EncryptedTextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_of_a_key")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"


class UserGroup(models.Model):
    """People who are named together, such as by the rule of a tool. The name is what is asked for,
    so it stays."""

    name = models.CharField(max_length=150, unique=True)
    people = models.ManyToManyField(
        User, through="accounts.GroupMembership", related_name="user_groups"
    )

    class Meta:
        ordering = ["name"]
        verbose_name = "group"

    def __str__(self) -> str:
        return self.name


class GeneralSettings(models.Model):
    """What administrators decide for everyone: one row, there once something was changed. The
    names of the switches are what ``accounts.general`` is asked for."""

    tolerations = models.BooleanField("Tolerations", default=False)
    topology = models.BooleanField("Topology", default=False)

    class Meta:
        verbose_name = "general settings"

    def __str__(self) -> str:
        return "General settings"


class GroupMembership(models.Model):
    """``provided`` by the identity provider, which takes it away as well; else an administrator's
    word."""

    group = models.ForeignKey(UserGroup, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="group_memberships")
    provided = models.BooleanField(default=False)

    class Meta:
        ordering = ["group__name", "user__username"]
        constraints = [
            models.UniqueConstraint(fields=["group", "user"], name="one_membership_of_a_group")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.group}"
