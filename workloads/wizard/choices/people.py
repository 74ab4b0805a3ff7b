"""Who may open a tool: names to choose from, and warnings about those that were entered."""

from collections.abc import Iterator

from django.db.models import QuerySet

from accounts import access
from accounts.models import User, UserGroup
from assets.environment.tools import split
from core.forms.shown import Shown
from projects.models import Project
from spec.parts.environment import Access
from workloads.models import Draft

MOST = 8
NOT_THERE = (
    "You are not among them. As the author you still have access while you see the workload."
)
NO_MEMBER = "You are in none of these groups. As the author you still have access."


def suggestions(draft: Draft, text: str, *, of: str) -> list[str]:
    """The whole text as it would be with each name that fits what stands after its last comma."""
    *before, last = text.split(",")
    earlier = split(",".join(before))
    names = _groups(draft.owner) if of == Access.GROUPS else _people(draft.owner)
    column = "name" if of == Access.GROUPS else "username"
    fitting = names.filter(**{f"{column}__icontains": last.strip()}).exclude(
        **{f"{column}__in": earlier}
    )
    first = fitting.order_by(column).values_list(column, flat=True).distinct()[:MOST]
    return [", ".join([*earlier, name]) for name in first]


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
    """At each tool that names people: who of them is unknown, whether the author is left out."""
    for item in shown.items:
        rule, who = item.by["access"].value, split(item.by["who"].value)
        if who and rule in {Access.USERS, Access.GROUPS}:
            warnings = _of_groups(who, by) if rule == Access.GROUPS else _of_users(who, by)
            item.by["who"].warnings = list(warnings)


def _of_users(who: list[str], by: User) -> Iterator[str]:
    there = {by.username, *_people(by).filter(username__in=who).values_list("username", flat=True)}
    missing = [name for name in who if name not in there]
    addresses = dict(_people(by).filter(email__in=missing).values_list("email", "username"))
    for address, username in addresses.items():
        yield f"{address} is the email address of {username}: enter the username."
    if missing := [name for name in missing if name not in addresses]:
        where = "" if access.may(by, "users.read") else " in your projects"
        yield f"There is no user {', '.join(missing)}{where}."
    if by.username not in who:
        yield NOT_THERE


def _of_groups(who: list[str], by: User) -> Iterator[str]:
    if access.may(by, "groups.read"):
        there = set(_groups(by).filter(name__in=who).values_list("name", flat=True))
        if missing := [name for name in who if name not in there]:
            yield f"There is no group {', '.join(missing)} yet."
    if not by.user_groups.filter(name__in=who).exists():
        yield NO_MEMBER
