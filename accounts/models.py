"""Users, their groups and keys, and the settings that apply to everyone."""

from enum import StrEnum

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts import access
from core.database.choices import Choices, values_of
from core.database.fields import EncryptedTextField


class User(AbstractUser):
    """Someone who can sign in. ``accounts.access`` decides what they may do; nothing else reads
    ``role``."""

    role = models.CharField(
        max_length=20, choices=access.role_choices, default=access.RESEARCHER.name
    )
    #: Sessions and tokens created before this time are no longer valid.
    signed_out_at = models.DateTimeField(null=True, blank=True, editable=False)
    #: The access key with which a program acts for this user. It is only set on the object of the
    #: current request.
    acting_key: "AccessKey | None" = None

    def __str__(self) -> str:
        return self.username

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that sessions and tokens contain. It changes with a new password, and
        when an administrator signs this user out."""
        password_hash: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        if self.signed_out_at is None:
            return password_hash
        salt = "accounts.models.User.signed_out_at"
        value = f"{password_hash}{self.signed_out_at.isoformat()}"
        return salted_hmac(salt, value, secret=secret, algorithm="sha256").hexdigest()


def active_user(pk: int) -> User | None:
    """Return the user with this id; ``None`` if there is none who may sign in."""
    try:
        return User.objects.get(pk=pk, is_active=True)
    except User.DoesNotExist:
        return None


class AccessKey(models.Model):
    """A key for programs that act for a user. Only a hash of the secret is stored. ``scopes`` are
    the user's permissions that the key has; if it is empty, the key has all of them."""

    name = models.CharField(max_length=63)
    client_id = models.CharField(max_length=64, unique=True)
    secret_hash = models.CharField(max_length=64)
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
        """Whether this key allows an action that its owner may do."""
        return not self.scopes or action in self.scopes

    def clean(self) -> None:
        unknown = ", ".join(sorted(set(self.scopes) - access.PERMISSIONS))
        if unknown:
            known = ", ".join(sorted(access.PERMISSIONS))
            raise ValidationError({"scopes": f"There is no permission {unknown}. Known: {known}."})
        if self._state.adding and self.has_ended:
            raise ValidationError({"expires_at": "Enter a time in the future."})


class DeviceAnswer(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    DONE = "done"  # the command line has its key


def device_answers() -> Choices:
    return values_of(DeviceAnswer)


class DeviceSignIn(models.Model):
    """A command line that waits to be signed in. It shows a ``code``, which a user enters and
    approves. It asks for the result with a secret, of which only a hash is stored. ``name`` becomes
    the name of its access key."""

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
    """The answer to a call with an ``Idempotency-Key``. It is encrypted, because the answer for a
    new access key contains its secret. ``asked`` is a hash of the request."""

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
    """A named group of users, for example for the access rule of a tool. Rules refer to a group by
    its name, so the name never changes."""

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
    """Settings that administrators make for everyone. There is at most one row: it is created by
    the first change. REST and the form call the switches by the names of these fields."""

    tolerations = models.BooleanField("Tolerations", default=False)
    topology = models.BooleanField("Topology", default=False)

    class Meta:
        verbose_name = "general settings"

    def __str__(self) -> str:
        return "General settings"


class GroupMembership(models.Model):
    """A user's membership of a group. The identity provider removes only memberships that it
    ``provided``; administrators decide about the others."""

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
