"""Create and change users. Each function checks permissions and writes to the audit log."""

from functools import partial

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import access, rules
from accounts.models import AccessRole, User
from audit import services as audit
from core.rest.validation import run_rules


def create_user(
    *,
    by: User,
    username: str,
    password: str,
    role: AccessRole | None = None,
    email: str = "",
    first_name: str = "",
    last_name: str = "",
) -> User:
    """Create a user with a first password, and with a role in the whole account if ``role`` is
    given. ``ValidationError`` names the fields that are wrong."""
    access.require(by, "users.create")
    user = User(username=username, email=email, first_name=first_name, last_name=last_name)
    run_rules(
        partial(_set_password, user, password), partial(user.full_clean, exclude=["password"])
    )
    try:
        with transaction.atomic():
            user.save()
            audit.record(by, "create", user, after=audit.facts(user))
            if role:
                rules.add_rule(user, role, by=by)
    except IntegrityError:
        user.full_clean(exclude=["password"])  # also reports a name that was taken meanwhile
        raise
    return user


def make_administrator(username: str, password: str) -> User:
    """Create an administrator from the command line. This needs no permission, because there may be
    no other user yet."""
    with transaction.atomic():
        user = User.objects.create_user(username, password=password)
        rules.make_account_administrator(user)
        audit.record(None, "create", user, after=audit.facts(user))
    return user


def update_user(
    user: User,
    *,
    by: User,
    email: str,
    first_name: str,
    last_name: str,
) -> None:
    access.require(by, "users.update")
    rules.require_no_more_power(by, user)
    before = audit.facts(user)
    user.email = email
    user.first_name = first_name
    user.last_name = last_name
    user.full_clean()
    with transaction.atomic():
        # allauth stores the address with which a user first came from the identity provider. As
        # long as that row exists, nobody else with this address can sign in.
        EmailAddress.objects.filter(user=user).exclude(email=email.lower()).delete()
        # Only these columns are written, so that a concurrent change of the password or a
        # deactivation is not undone.
        user.save(update_fields=["email", "first_name", "last_name"])
        audit.record(by, "update", user, before=before, after=audit.facts(user))


def set_active(user: User, active: bool, *, by: User) -> None:
    """Activate or deactivate a user, with immediate effect. Their workloads keep running.
    ``ValidationError`` for the last administrator, and if ``by`` is the user."""
    access.require(by, "users.update")
    rules.require_no_more_power(by, user)
    if user == by:
        raise ValidationError("You cannot deactivate yourself; another administrator can.")
    with rules.keep_an_administrator():
        user.is_active = active
        user.save(update_fields=["is_active"])
        audit.record(by, "activate" if active else "deactivate", user)


def reset_password(user: User, password: str, *, by: User) -> None:
    """Set a new password. This ends all sessions of the user."""
    access.require(by, "users.update")
    rules.require_no_more_power(by, user)
    _set_password(user, password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        audit.record(by, "reset password", user)


def sign_out(user: User, *, by: User) -> None:
    """End all sessions and tokens of a user, who may sign in again. Access keys stay valid."""
    access.require(by, "users.update")
    user.signed_out_at = timezone.now()
    with transaction.atomic():
        user.save(update_fields=["signed_out_at"])
        audit.record(by, "sign out", user)


def _set_password(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from error
    user.set_password(password)
