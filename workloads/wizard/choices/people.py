"""Who may open a tool: names to choose from, and warnings about those that were entered."""

from collections.abc import Iterator

from django.db.models import QuerySet

from accounts import access
from accounts.models import User, UserGroup
from core.forms.shown import Shown
from projects.models import Project
from spec.parts.environment import Access
from workloads.models import Draft
from workloads.tools.names import holders, is_meant

MOST = 8
NOT_THERE = (
    "You are not among them. As the author you still have access while you see the workload."
)
NO_MEMBER = "You are in none of these groups. As the author you still have access."


def suggestions(draft: Draft, text: str, *, of: str) -> list[str]:
    """The first names that hold what was typed so far."""
    names = _groups(draft.owner) if of == Access.GROUPS else _people(draft.owner)
    column = "name" if of == Access.GROUPS else "username"
    fitting = names.filter(**{f"{column}__icontains": text.strip()})
    return list(fitting.order_by(column).values_list(column, flat=True).distinct()[:MOST])


def _people(user: User) -> QuerySet[User]:
    """Members of the projects that the author is in; everyone for who may see everyone."""
    active = User.objects.filter(is_active=True)
    if access.may(user, "users.read"):
        return active
    return active.filter(projects__in=Project.objects.visible_to(user))


def _groups(user: User) -> QuerySet[UserGroup]:
    every = UserGroup.objects.all()
    return every if access.may(user, "groups.read") else every.filter(memberships__user=user)


def warn(shown: Shown, by: User) -> None:
    """At each tool that names people: who of them is unknown, whether the author is left out; and
    whose an email address is."""
    for item in shown.items:
        rule, who = item.by["access"].value, item.by["who"]
        if who.names and rule == Access.USERS:
            usernames = {by.username, *_usernames(_people(by).filter(username__in=who.names))}
            held = _addresses([name for name in who.names if name not in usernames], by)
            who.note = " ".join(f"{it} is {its[0]}." for it, its in held.items() if not its[1:])
            who.warnings = list(_of_users(who.names, by, usernames, held))
        elif who.names and rule == Access.GROUPS:
            who.warnings = list(_of_groups(who.names, by))


def _usernames(users: QuerySet[User]) -> QuerySet[User, str]:
    return users.values_list("username", flat=True)


def _addresses(names: list[str], by: User) -> dict[str, list[str]]:
    """Those of the names that are email addresses of people whom the author sees, and everyone
    whom they could mean."""
    held = holders(names)
    those = {it.pk for its in held.values() for it in its}
    visible = {by.username, *_usernames(_people(by).filter(pk__in=those))}
    return {
        name: [it.username for it in its]
        for name in names
        if (its := held.get(name.lower(), []))
        and any(it.username in visible and it.email.lower() == name.lower() for it in its)
    }


def _of_users(
    who: list[str], by: User, usernames: set[str], held: dict[str, list[str]]
) -> Iterator[str]:
    for address, its in held.items():
        if its[1:]:
            yield f"More than one user could be meant by {address}: enter the username."
    if missing := [name for name in who if name not in usernames and name not in held]:
        where = "" if access.may(by, "users.read") else " in your projects"
        yield f"There is no user {', '.join(missing)}{where}."
    if not is_meant(by, who):
        yield NOT_THERE


def _of_groups(who: list[str], by: User) -> Iterator[str]:
    if access.may(by, "groups.read"):
        there = set(_groups(by).filter(name__in=who).values_list("name", flat=True))
        if missing := [name for name in who if name not in there]:
            yield f"There is no group {', '.join(missing)} yet."
    if not by.user_groups.filter(name__in=who).exists():
        yield NO_MEMBER
