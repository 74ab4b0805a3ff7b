"""What administrators do with users."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

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
    with _someone_stays("role"):
        user.save()
        user.projects.set(projects)


def set_active(user: User, active: bool, *, by: User) -> None:
    """Let someone in, or out at once. Their workloads run on. ``ValidationError`` for the last."""
    _check(by)
    if user == by:
        raise ValidationError("You cannot deactivate yourself; another administrator can.")
    with _someone_stays():
        user.is_active = active
        user.save(update_fields=["is_active"])


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


@contextmanager
def _someone_stays(field: str = "__all__") -> Iterator[None]:
    """A transaction that is undone if it locks everyone out. Of two at once the later waits."""
    administrators = User.objects.filter(role=Role.ADMINISTRATOR, is_active=True)
    with transaction.atomic():
        list(administrators.select_for_update().order_by("pk"))
        yield
        if not administrators.exists():
            raise ValidationError({field: ["One active administrator has to stay."]})
