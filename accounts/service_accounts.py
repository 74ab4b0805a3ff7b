"""Service accounts: programs with a secret and roles of their own, which belong to nobody. Each
function checks permissions and writes to the audit log.

A service account is a row of :class:`accounts.models.User` with one access key, and without a
password, so it has no way to sign in on a page.
"""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError, transaction

from accounts import access, tokens
from accounts.models import AccessKey, AccessRule, User
from accounts.rules import keep_an_administrator, require_no_more_power, why_in_use
from audit import services as audit
from core.deletion import guard_deletion

check_name = RegexValidator(
    r"^[a-z]([-a-z0-9]*[a-z0-9])?\Z",
    "Start with a letter; use lower-case letters, digits and hyphens.",
)


def create_service_account(*, by: User, name: str) -> tuple[User, AccessKey, str]:
    """Create a service account. Returns it with its key and the secret, which is not stored.
    ``ValidationError`` names the field that is wrong."""
    access.require(by, "service-accounts.create")
    account = User(username=name.strip(), is_service_account=True)
    account.set_unusable_password()
    try:
        check_name(account.username)
        account.full_clean(exclude=["password"])
    except ValidationError as error:
        errors = error.error_dict["username"] if hasattr(error, "error_dict") else [error]
        raise ValidationError({"name": errors}) from error
    try:
        with transaction.atomic():
            account.save()
            audit.record(by, "create", account, after=audit.facts(account))
            key, secret = tokens.make_key(account, account.username, by=by)
    except IntegrityError:  # the name was taken meanwhile
        text = "A user with that username already exists."
        taken = ValidationError(text, code="unique")
        raise ValidationError({"name": [taken]}) from None
    return account, key, secret


def renew_secret(account: User, *, by: User) -> tuple[AccessKey, str]:
    """Create a new secret. The old one and its tokens stop working immediately."""
    access.require(by, "service-accounts.update")
    require_no_more_power(by, account)
    key = account.access_keys.earliest("pk")
    return key, tokens.renew_secret(key, by=by)


def set_enabled(account: User, enabled: bool, *, by: User) -> None:
    """Enable or disable a service account, with immediate effect: its key gets no tokens while it
    is disabled, and those that it has do not work. Its workloads keep running."""
    access.require(by, "service-accounts.update")
    require_no_more_power(by, account)
    with keep_an_administrator():
        account.is_active = enabled
        account.save(update_fields=["is_active"])
        audit.record(by, "activate" if enabled else "deactivate", account)


def delete_service_account(account: User, *, by: User) -> None:
    """Delete a service account. Its workloads keep running. Raises ``InUse`` if it has roles."""
    access.require(by, "service-accounts.delete")
    with guard_deletion(account, lambda: obstacle_to_delete(account)):
        audit.record(by, "delete", account, before=audit.facts(account))
        account.delete()


def obstacle_to_delete(account: User) -> str:
    """Return why the service account cannot be deleted now; empty if it can."""
    return why_in_use(account, AccessRule.objects.filter(user=account))
