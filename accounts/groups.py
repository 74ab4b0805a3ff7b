"""Groups of users. Administrators create them, and the identity provider names others at
sign-in."""

from collections.abc import Collection, Iterable
from typing import Any

from django.db import IntegrityError, transaction

from accounts import access
from accounts.models import AccessRule, GroupMembership, User, UserGroup
from accounts.rules import keep_an_administrator, require_own_permissions, why_in_use
from audit import services as audit
from core.deletion import guard_deletion
from core.text import text_fault

MOST_NAMES = 200  # groups of one person that are accepted from the identity provider
LONGEST_NAME = 150


def create_group(*, by: User, name: str, people: Collection[User]) -> UserGroup:
    """Create a group. ``ValidationError`` names the field that is wrong."""
    access.require(by, "groups.create")
    group = UserGroup(name=name.strip())
    group.full_clean()
    try:
        with transaction.atomic():
            group.save()
            _set_people(group, people)
            audit.record(by, "create", group, after=_facts(group))
    except IntegrityError:
        group.full_clean()  # also reports a name that was taken meanwhile
        raise
    return group


def update_group(group: UserGroup, *, by: User, people: Collection[User]) -> None:
    """Change the members of a group. Members from the identity provider stay, because their next
    sign-in would add them again."""
    access.require(by, "groups.update")
    _require_rules_of(group, by)
    before = _facts(group)
    with keep_an_administrator():
        _set_people(group, people)
        audit.record(by, "update", group, before=before, after=_facts(group))


def delete_group(group: UserGroup, *, by: User) -> None:
    """Delete a group. Tools that are open to it lose its members. Raises ``InUse`` if it has access
    rules."""
    access.require(by, "groups.delete")
    with guard_deletion(group, lambda: obstacle_to_delete(group)):
        audit.record(by, "delete", group, before=_facts(group))
        group.delete()


def obstacle_to_delete(group: UserGroup) -> str:
    """Return why the group cannot be deleted now; empty if it can."""
    return why_in_use(group, AccessRule.objects.filter(group=group))


def set_provided_groups(user: User, claim: Any) -> None:
    """Set the groups that a user has from the identity provider to those in its ``claim``. Groups
    to which an administrator added the user stay."""
    wanted = set(_group_names(claim))
    memberships = user.group_memberships.select_related("group")
    current = {membership.group.name for membership in memberships if membership.provided}
    if current == wanted:
        return
    with transaction.atomic():
        user.group_memberships.filter(provided=True).exclude(group__name__in=wanted).delete()
        for name in sorted(wanted - current):
            group, _ = UserGroup.objects.get_or_create(name=name)
            GroupMembership.objects.get_or_create(
                group=group, user=user, defaults={"provided": True}
            )
        before = {"groups": sorted(current)}
        after = {"groups": sorted(wanted)}
        audit.record(user, "update", user, before=before, after=after)


def _group_names(claim: Any) -> Iterable[str]:
    """Return the names in a claim, which is a list or one name. Other claims are ignored, and so
    are names that cannot be stored."""
    items = claim if isinstance(claim, list) else [claim]
    names = [item.strip() for item in items if isinstance(item, str)]
    valid = [name for name in names if 0 < len(name) <= LONGEST_NAME and not text_fault(name)]
    return valid[:MOST_NAMES]


def _set_people(group: UserGroup, people: Collection[User]) -> None:
    group.memberships.filter(provided=False).exclude(user__in=people).delete()
    member_ids = set(group.memberships.values_list("user_id", flat=True))
    GroupMembership.objects.bulk_create(
        GroupMembership(group=group, user=user) for user in people if user.pk not in member_ids
    )


def _require_rules_of(group: UserGroup, by: User) -> None:
    """Refuse to choose who has the roles of a group to someone who may not give them."""
    if group.access_rules.exists():
        access.require(by, "access-rules.create")
    for rule in group.access_rules.select_related("role"):
        require_own_permissions(by, rule.role)


def _facts(group: UserGroup) -> dict[str, Any]:
    people = group.people.order_by("username").values_list("username", flat=True)
    return {"name": group.name, "people": list(people)}
