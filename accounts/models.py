"""Users, their groups and keys, and the settings that apply to everyone."""

from enum import StrEnum
from typing import ClassVar, Self, cast

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.permissions import PERMISSIONS
from core.database.choices import Choices, values_of
from core.database.fields import EncryptedTextField


class UserManager(DjangoUserManager["User"]):
    def people(self) -> "models.QuerySet[User]":
        """Users without service accounts."""
        return self.filter(is_service_account=False)


class User(AbstractUser):
    """A person who can sign in, or a service account: a program with access keys of its own.
    ``accounts.access`` decides what they may do."""

    is_service_account = models.BooleanField(default=False, editable=False)
    #: Sessions and tokens created before this time are no longer valid.
    signed_out_at = models.DateTimeField(null=True, blank=True, editable=False)
    #: The access key with which a program acts for this user. It is only set on the object of the
    #: current request.
    acting_key: "AccessKey | None" = None

    objects: ClassVar[UserManager] = UserManager()

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
        unknown = sorted(set(self.scopes) - PERMISSIONS)
        if unknown:
            names = ", ".join(name or "without a name" for name in unknown)
            known = ", ".join(sorted(PERMISSIONS))
            raise ValidationError({"scopes": f"There is no permission {names}. Known: {known}."})
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
    """Settings that administrators make foreveryone. There is at most one row: it is created by
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


class AccessRole(models.Model):
    """A named set of permissions. ``accounts.permissions`` has the predefined ones, which cannot be
    changed; administrators create the others."""

    name = models.CharField(max_length=100, unique=True)
    description = models.CharField(max_length=250, blank=True)
    permissions = models.JSONField(default=list)
    predefined = models.BooleanField(default=False, editable=False)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "role"

    def __str__(self) -> str:
        return self.name


class AccessRuleQuerySet(models.QuerySet["AccessRule"]):
    def in_force(self) -> Self:
        """Rules that have not ended."""
        return self.filter(Q(until=None) | Q(until__gt=timezone.now()))

    def about(self, user: User) -> Self:
        """Rules of a user, and of the groups that the user is in."""
        groups = user.group_memberships.values("group")
        return self.filter(Q(user=user) | Q(group__in=groups))

    def for_list(self) -> Self:
        """With what a list shows, sorted by scope, then by subject."""
        rows = self.select_related("user", "group", "role", "created_by")
        return rows.order_by("scope", "group__name", "user__username", "role__name", "pk")


class AccessRule(models.Model):
    """A subject has a role in a scope, forever or ``until`` a time. The subject is a user or a
    group; ``scope`` is the key of the scope, such as ``account`` or ``project:3``."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="access_rules"
    )
    group = models.ForeignKey(
        UserGroup, on_delete=models.CASCADE, null=True, blank=True, related_name="access_rules"
    )
    role = models.ForeignKey(AccessRole, on_delete=models.PROTECT, related_name="access_rules")
    scope = models.CharField(max_length=60, db_index=True)
    until = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AccessRuleQuerySet.as_manager()

    class Meta:
        verbose_name = "access rule"
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, group__isnull=False) | Q(user__isnull=False, group=None),
                name="access_rule_of_one_subject",
            ),
            models.UniqueConstraint(
                fields=["user", "role", "scope"],
                condition=Q(group=None),
                name="one_access_rule_of_a_user",
            ),
            models.UniqueConstraint(
                fields=["group", "role", "scope"],
                condition=Q(user=None),
                name="one_access_rule_of_a_group",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject} is {self.role} in {self.scope}"

    @property
    def subject(self) -> User | UserGroup:
        return cast(User | UserGroup, self.user or self.group)  # the table has a constraint

    @property
    def has_ended(self) -> bool:
        return self.until is not None and self.until <= timezone.now()
