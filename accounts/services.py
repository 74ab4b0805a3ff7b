"""What administrators do with users."""

from collections.abc import Collection

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from accounts.models import Role, User


def create_user(
    *,
    by: User,
    username: str,
    password: str,
    role: str = Role.RESEARCHER,
    email: str = "",
    first_name: str = "",
    last_name: str = "",
    projects: Collection[int] = (),
) -> User:
    """A user with a first password. ``ValidationError`` names the fields that are wrong."""
    _check(by)
    user = User(
        username=username, role=role, email=email, first_name=first_name, last_name=last_name
    )
    _set_password(user, password)
    user.full_clean()
    with transaction.atomic():
        user.save()
        user.projects.set(projects)
    return user


def update_user(
    user: User,
    *,
    by: User,
    role: str,
    email: str,
    first_name: str,
    last_name: str,
    projects: Collection[int],
) -> None:
    _check(by)
    user.role, user.email, user.first_name, user.last_name = role, email, first_name, last_name
    user.full_clean()
    with transaction.atomic():
        user.save()
        _keep_an_administrator("role")
        user.projects.set(projects)


def set_active(user: User, active: bool, *, by: User) -> None:
    """Let someone in, or out at once. Their workloads run on. ``ValidationError`` for the last."""
    _check(by)
    if user == by:
        raise ValidationError("You cannot deactivate yourself; another administrator can.")
    with transaction.atomic():
        user.is_active = active
        user.save(update_fields=["is_active"])
        _keep_an_administrator()


def reset_password(user: User, password: str, *, by: User) -> None:
    """A new password, which ends every session of the user."""
    _check(by)
    _set_password(user, password)
    user.save(update_fields=["password"])


def _check(by: User) -> None:
    if not by.is_administrator:
        raise PermissionDenied("Users are for administrators to manage.")


def _set_password(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from error
    user.set_password(password)


def _keep_an_administrator(field: str = "__all__") -> None:
    """Inside a transaction: undo what would lock everyone out."""
    if not User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exists():
        raise ValidationError({field: ["One active administrator has to stay."]})
