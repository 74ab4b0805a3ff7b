"""Create, change and delete custom roles. Each function checks permissions and writes to the audit
log. A custom role is a union of permission sets."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import access
from accounts.models import AccessRole, AccessRule, User
from accounts.permissions import PERMISSION_SETS
from accounts.rules import keep_an_administrator, require_own_permissions, why_in_use
from audit import services as audit
from core.deletion import InUse, guard_deletion

FIXED = "Predefined roles cannot be changed. Create a role of your own."


def create_role(
    *, by: User, name: str, permission_sets: Collection[str], description: str = ""
) -> AccessRole:
    """Create a role. ``ValidationError`` names the fields that are wrong. ``PermissionDenied`` if
    the role permits more than ``by`` may do in the whole account."""
    access.require(by, "roles.create")
    role = AccessRole(created_by=by)
    _save(role, by, name, permission_sets, description)
    return role


def update_role(
    role: AccessRole, *, by: User, name: str, permission_sets: Collection[str], description: str
) -> None:
    """Change a custom role, with immediate effect for all who have it. Errors are those of
    :func:`create_role`."""
    access.require(by, "roles.update")
    if role.predefined:
        raise ValidationError(FIXED)
    require_own_permissions(by, role)
    _save(role, by, name, permission_sets, description)


def delete_role(role: AccessRole, *, by: User) -> None:
    """Delete a custom role. Raises ``InUse`` if access rules give it."""
    access.require(by, "roles.delete")
    if role.predefined:
        raise InUse(FIXED)
    require_own_permissions(by, role)
    with guard_deletion(role, lambda: obstacle_to_delete(role)):
        audit.record(by, "delete", role, before=_facts(role))
        role.delete()


def obstacle_to_delete(role: AccessRole) -> str:
    """Return why the role cannot be deleted now; empty if it can."""
    return why_in_use(role, AccessRule.objects.filter(role=role))


def sets_of(role: AccessRole) -> list[str]:
    """Return the ids of the permission sets of which a role is the union. Of two sets of the same
    resource, only the larger counts."""
    held = set(role.permissions)
    within = [it for it in PERMISSION_SETS.values() if it.permissions <= held]
    larger = [it.permissions for it in within]
    return [it.id for it in within if not any(it.permissions < other for other in larger)]


def _save(
    role: AccessRole, by: User, name: str, permission_sets: Collection[str], description: str
) -> None:
    before = _facts(role) if role.pk else None
    unknown = sorted(set(permission_sets) - set(PERMISSION_SETS))
    if unknown:
        names = ", ".join(name or "without an ID" for name in unknown)
        text = f"There is no permission set {names}. Known: {', '.join(PERMISSION_SETS)}."
        raise ValidationError({"permission_sets": text})
    role.name = name.strip()
    role.description = description.strip()
    role.permissions = sorted(
        frozenset().union(*(PERMISSION_SETS[name].permissions for name in permission_sets))
    )
    if not role.permissions:
        raise ValidationError({"permission_sets": "Choose at least one permission."})
    role.full_clean()
    require_own_permissions(by, role)
    try:
        with keep_an_administrator(), transaction.atomic():
            role.save()
            audit.record(
                by, "update" if before else "create", role, before=before, after=_facts(role)
            )
    except IntegrityError:
        role.full_clean()  # also reports a name that was taken meanwhile
        raise


def _facts(role: AccessRole) -> dict[str, Any]:
    return audit.facts(role, "permissions")
