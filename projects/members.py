"""The members of a project: the people who have the role of a researcher in it themselves.

The form of a project, and ``members`` in REST, set them together. Other roles in a project, and
those of groups, are access rules as any other.
"""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import QuerySet

from accounts import access, rules
from accounts.models import AccessRole, AccessRule, User
from accounts.permissions import RESEARCHER
from projects.models import Project


def researchers_of(project: Project) -> QuerySet[User]:
    """Return the members, sorted by name."""
    return User.objects.filter(access_rules__in=_rules_in(project)).order_by("username")


def member_names(projects: Iterable[Project]) -> dict[int, list[str]]:
    """Return the usernames of the members of each project, sorted, by the project's id."""
    ids = {access.scope_key("project", project.pk): project.pk for project in projects}
    names: dict[int, list[str]] = {pk: [] for pk in ids.values()}
    found = _researcher_rules().filter(scope__in=list(ids)).order_by("user__username")
    for scope, name in found.values_list("scope", "user__username"):
        names[ids[scope]].append(name)
    return names


def projects_of(user: User) -> QuerySet[Project]:
    """Return the projects of which a user is a member."""
    keys = _researcher_rules().filter(user=user).values_list("scope", flat=True)
    ids = [key.partition(":")[2] for key in keys if key.startswith("project:")]
    return Project.objects.filter(pk__in=ids)


def visible_people(user: User) -> QuerySet[User]:
    """Return the active people who have a role in the user's projects, or everyone if the user may
    list all users."""
    active = User.objects.people().filter(is_active=True)
    if access.may(user, "users.read"):
        return active
    visible = Project.objects.visible_to(user).values_list("pk", flat=True)
    keys = [access.scope_key("project", pk) for pk in visible]
    rows = AccessRule.objects.in_force().filter(scope__in=keys)
    return active.filter(pk__in=access.people_of(rows).values("pk"))


def add_member(project: Project, user: User, *, by: User) -> bool:
    """Add a member. Returns ``False`` if the user is a member already."""
    if _rules_in(project).filter(user=user).exists():
        access.require(by, "access-rules.create", *project.scope_keys)
        return False
    role = AccessRole.objects.get(name=RESEARCHER.name)
    rules.add_rule(user, role, by=by, scope_keys=project.scope_keys)
    return True


def remove_member(project: Project, user: User, *, by: User) -> None:
    """Remove a member. Their workloads in the project continue."""
    for rule in _rules_in(project).filter(user=user):
        rules.remove_rule(rule, by=by, scope_keys=project.scope_keys)


def set_members(project: Project, people: Collection[User], *, by: User) -> None:
    """Make exactly these people members."""
    current = set(researchers_of(project))
    with transaction.atomic():
        for user in sorted(current - set(people), key=str):
            remove_member(project, user, by=by)
        for user in sorted(set(people) - current, key=str):
            add_member(project, user, by=by)


def set_projects(user: User, projects: Collection[Project], *, by: User) -> None:
    """Make a user a member of exactly these projects."""
    current = set(projects_of(user))
    with transaction.atomic():
        for project in sorted(current - set(projects), key=str):
            remove_member(project, user, by=by)
        for project in sorted(set(projects) - current, key=str):
            add_member(project, user, by=by)


def _rules_in(project: Project) -> QuerySet[AccessRule]:
    return _researcher_rules().filter(scope=access.scope_key("project", project.pk))


def _researcher_rules() -> QuerySet[AccessRule]:
    rows = AccessRule.objects.in_force()
    return rows.filter(role__name=RESEARCHER.name, group=None, user__is_service_account=False)
