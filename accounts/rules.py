"""Give and take roles. Each function checks permissions and writes to the audit log.

``scope_keys`` are the keys of a scope and of all that contain it, its own first, as ``scope_keys``
of a project returns them; none stand for the whole account.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import AccessRole, AccessRule, AccessRuleQuerySet, User, UserGroup
from accounts.permissions import ADMINISTRATOR, PERMISSIONS
from audit import services as audit

LAST_ADMINISTRATOR = "At least one administrator must stay active."
MOST_NAMED = 3  # rules that the refusal of a deletion names


def add_rule(
    subject: User | UserGroup,
    role: AccessRole,
    *,
    by: User,
    scope_keys: Sequence[str] = (),
    until: datetime | None = None,
) -> AccessRule:
    """Give a role in a scope. ``ValidationError`` if the subject has it there already, or if
    ``until`` is past. ``PermissionDenied`` if ``by`` may not do in the scope all that the role
    permits."""
    access.require(by, "access-rules.create", *scope_keys)
    require_own_permissions(by, role, scope_keys)
    if until is not None and until <= timezone.now():
        raise ValidationError({"until": "Enter a time in the future."})
    rule = AccessRule(role=role, scope=_own_key(scope_keys), until=until, created_by=by)
    if isinstance(subject, User):
        rule.user = subject
    else:
        rule.group = subject
    same = AccessRule.objects.filter(user=rule.user, group=rule.group, role=role, scope=rule.scope)
    try:
        with transaction.atomic():
            same.filter(until__lte=timezone.now()).delete()
            rule.save()
            audit.record(by, "create", rule, after=_facts(rule))
    except IntegrityError:
        if not same.exists():
            raise
        raise ValidationError(f"{subject} has the role {role} there already.") from None
    _forget(subject)
    return rule


def remove_rule(rule: AccessRule, *, by: User, scope_keys: Sequence[str] = ()) -> None:
    """Take a role away. ``ValidationError`` if nobody could give roles in the account then."""
    access.require(by, "access-rules.delete", *scope_keys)
    require_own_permissions(by, rule.role, scope_keys)
    with keep_an_administrator():
        audit.record(by, "delete", rule, before=_facts(rule))
        AccessRule.objects.filter(pk=rule.pk).delete()
    _forget(rule.subject)


def remove_rules_of_scopes(*scopes: str) -> None:
    """Delete the rules of scopes that are deleted. The entry of the deletion tells enough."""
    AccessRule.objects.filter(scope__in=scopes).delete()


def why_in_use(
    used: Model, rows: AccessRuleQuerySet, scope_names: Mapping[str, str] | None = None
) -> str:
    """Return why something that has these rules cannot be deleted: who has which role where; empty
    if there are none. ``scope_names`` are the names of scopes by their keys, which are shown
    otherwise."""
    names = scope_names or {}
    uses = [
        f"{rule.subject} is {rule.role} in {names.get(rule.scope, rule.scope)}"
        for rule in rows.for_list()
    ]
    if not uses:
        return ""
    others = len(uses) - MOST_NAMED
    more = f", and {others} more" if others > 0 else ""
    listed = ", ".join(uses[:MOST_NAMED])
    return f"{used} is in use by access rules: {listed}{more}. Remove them first."


def may_give(user: User, role: AccessRole, *scope_keys: str) -> bool:
    """Whether a user may give a role in a scope, and take it away: that takes all permissions of
    the role."""
    return all(access.may(user, action, *scope_keys) for action in role.permissions)


def require_no_more_power(by: User, *users: User) -> None:
    """Refuse to act on users who may do more in the whole account than ``by``, or could once they
    are active again. Otherwise ``by`` could act as them, for example with a new password."""
    for action in PERMISSIONS:
        if not access.may(by, action) and any(access.has_rule_for(user, action) for user in users):
            access.require(by, action)


@contextmanager
def keep_an_administrator(field: str = "__all__") -> Iterator[None]:
    """Open a transaction that is rolled back with ``ValidationError`` if nobody who may give roles
    in the account would remain."""
    administrators = access.permitted_users("access-rules.create")
    with transaction.atomic():
        # Two administrators who deactivate each other take turns, so the second one fails.
        had_one = bool(list(administrators.select_for_update()))
        yield
        if had_one and not access.permitted_users("access-rules.create").exists():
            raise ValidationError({field: [LAST_ADMINISTRATOR]})


def make_account_administrator(user: User) -> None:
    """Make a user an administrator of the account, from the command line."""
    role = AccessRole.objects.get(name=ADMINISTRATOR.name)
    AccessRule.objects.get_or_create(user=user, role=role, scope=access.ACCOUNT)


def require_own_permissions(by: User, role: AccessRole, scope_keys: Sequence[str] = ()) -> None:
    """Refuse to give, take or change a role with permissions that ``by`` does not have in the
    scope. Otherwise they could give them to themselves."""
    for action in role.permissions:
        if not access.may(by, action, *scope_keys):
            text = access.missing_permission_text(action, by, *scope_keys)
            refusal = f"The role {role} permits more than you may do there. {text}"
            raise access.MissingPermission(action, refusal)


def _own_key(scope_keys: Sequence[str]) -> str:
    return scope_keys[0] if scope_keys else access.ACCOUNT


def _facts(rule: AccessRule) -> dict[str, object]:
    until = rule.until.isoformat() if rule.until else ""
    return audit.facts(rule) | {"until": until}


def _forget(subject: User | UserGroup) -> None:
    """Forget the cached rules of a user. Those of a group's members live as long as their
    requests."""
    if isinstance(subject, User):
        access.forget_rules(subject)
