"""Suggest names of people and groups who may open a tool, and warn about those that were
entered."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.text import get_text_list

from accounts import access
from accounts.models import User, UserGroup
from core.forms.shown import ShownField
from projects.members import visible_people
from spec.parts.environment import Access
from workloads.models import Draft
from workloads.tools.names import is_named, users_by_name

MOST = 8
AUTHOR_LEFT_OUT = (
    "You are not among them. As the author you still have access while you see the workload."
)
AUTHOR_IN_NO_GROUP = "You are in none of these groups. As the author you still have access."


def suggest_names(draft: Draft, text: str, *, of: str) -> list[str]:
    """Return up to :data:`MOST` sorted names that contain ``text``, of groups if ``of`` says so,
    else of people. The draft's author may see all of them."""
    names = _visible_groups(draft.owner) if of == Access.GROUPS else visible_people(draft.owner)
    column = "name" if of == Access.GROUPS else "username"
    fitting = names.filter(**{f"{column}__icontains": text.strip()})
    return list(fitting.order_by(column).values_list(column, flat=True).distinct()[:MOST])


def _visible_groups(user: User) -> QuerySet[UserGroup]:
    every = UserGroup.objects.all()
    return every if access.may(user, "groups.read") else every.filter(memberships__user=user)


def add_warnings(shown: ShownField, by: User) -> None:
    """Add notes and warnings to each tool that names people or groups: which names do not exist,
    who has an email address, and whether the author has no access."""
    for item in shown.items:
        rule = item.by_slug["access"].value
        who = item.by_slug["who"]
        if who.names and rule == Access.USERS:
            usernames = {
                by.username,
                *_usernames(visible_people(by).filter(username__in=who.names)),
            }
            others = [name for name in who.names if name not in usernames]
            holders_by_address = _address_holders(others, by)
            who.note = " ".join(
                f"{address} is {holders.users[0]}."
                for address, holders in holders_by_address.items()
                if holders.is_clear
            )
            who.warnings = list(_user_warnings(who.names, by, usernames, holders_by_address))
        elif who.names and rule == Access.GROUPS:
            who.warnings = list(_group_warnings(who.names, by))


def _usernames(users: QuerySet[User]) -> QuerySet[User, str]:
    return users.values_list("username", flat=True)


@dataclass(frozen=True)
class AddressHolders:
    """The ``users`` with an email address whom the author may see. ``is_clear`` is false if another
    user has the address, too, or has it as a username. The author learns only that the address is
    ambiguous, not who else has it."""

    users: list[str]
    is_clear: bool


def _address_holders(names: list[str], by: User) -> dict[str, AddressHolders]:
    """Return the names that are email addresses of people whom the author may see."""
    all_users = users_by_name(names)
    ids = {user.pk for users in all_users.values() for user in users}
    visible = {by.username, *_usernames(visible_people(by).filter(pk__in=ids))}
    addresses = {}
    for name in names:
        users = all_users.get(name.lower(), [])
        holders = [
            user.username
            for user in users
            if user.username in visible and user.email.lower() == name.lower()
        ]
        if holders:
            addresses[name] = AddressHolders(holders, is_clear=len(users) == 1)
    return addresses


def _user_warnings(
    names: list[str],
    by: User,
    usernames: set[str],
    holders_by_address: dict[str, AddressHolders],
) -> Iterator[str]:
    for address, holders in holders_by_address.items():
        if not holders.is_clear:
            users = get_text_list(holders.users, "or")
            yield f"The address {address} does not say who is meant: enter the username, {users}."
    missing = [name for name in names if name not in usernames and name not in holders_by_address]
    if missing:
        where = "" if access.may(by, "users.read") else " in your projects"
        yield f"There is no user {', '.join(missing)}{where}."
    if not is_named(by, names):
        yield AUTHOR_LEFT_OUT


def _group_warnings(names: list[str], by: User) -> Iterator[str]:
    # Only users who may list all groups are told which of the names do not exist.
    if access.may(by, "groups.read"):
        groups = _visible_groups(by).filter(name__in=names)
        existing = set(groups.values_list("name", flat=True))
        missing = [name for name in names if name not in existing]
        if missing:
            yield f"There is no group {', '.join(missing)} yet."
    if not by.user_groups.filter(name__in=names).exists():
        yield AUTHOR_IN_NO_GROUP
