"""Suggest names of people and groups who may open a tool, and warn about those that were
entered."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.text import get_text_list

from accounts import access
from accounts.models import User, UserGroup
from core.forms.shown import ShownField
from projects.models import Project
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
    names = _visible_groups(draft.owner) if of == Access.GROUPS else _visible_people(draft.owner)
    column = "name" if of == Access.GROUPS else "username"
    fitting = names.filter(**{f"{column}__icontains": text.strip()})
    return list(fitting.order_by(column).values_list(column, flat=True).distinct()[:MOST])


def _visible_people(user: User) -> QuerySet[User]:
    """Return the members of the user's projects, or everyone if the user may list all users."""
    active = User.objects.filter(is_active=True)
    if access.may(user, "users.read"):
        return active
    return active.filter(projects__in=Project.objects.visible_to(user))


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
                *_usernames(_visible_people(by).filter(username__in=who.names)),
            }
            held = _address_holders([name for name in who.names if name not in usernames], by)
            clear = (f"{it} is {its.users[0]}." for it, its in held.items() if its.is_clear)
            who.note = " ".join(clear)
            who.warnings = list(_user_warnings(who.names, by, usernames, held))
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
    held = users_by_name(names)
    those = {it.pk for its in held.values() for it in its}
    visible = {by.username, *_usernames(_visible_people(by).filter(pk__in=those))}
    addresses = {}
    for name in names:
        its = held.get(name.lower(), [])
        users = [
            it.username for it in its if it.username in visible and it.email.lower() == name.lower()
        ]
        if users:
            addresses[name] = AddressHolders(users, is_clear=len(its) == 1)
    return addresses


def _user_warnings(
    who: list[str], by: User, usernames: set[str], held: dict[str, AddressHolders]
) -> Iterator[str]:
    for address, its in held.items():
        if not its.is_clear:
            names = get_text_list(its.users, "or")
            yield f"The address {address} does not say who is meant: enter the username, {names}."
    if missing := [name for name in who if name not in usernames and name not in held]:
        where = "" if access.may(by, "users.read") else " in your projects"
        yield f"There is no user {', '.join(missing)}{where}."
    if not is_named(by, who):
        yield AUTHOR_LEFT_OUT


def _group_warnings(who: list[str], by: User) -> Iterator[str]:
    if access.may(by, "groups.read"):
        there = set(_visible_groups(by).filter(name__in=who).values_list("name", flat=True))
        if missing := [name for name in who if name not in there]:
            yield f"There is no group {', '.join(missing)} yet."
    if not by.user_groups.filter(name__in=who).exists():
        yield AUTHOR_IN_NO_GROUP
