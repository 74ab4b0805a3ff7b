"""The pages of access: who has access to a scope, and what a person may do by which rule."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access, groups, roles, rules, service_accounts
from accounts.http import Request, permission_required
from accounts.models import AccessRole, AccessRule, AccessRuleQuerySet, User, UserGroup
from accounts.permissions import permission_words
from clusters.models import Cluster
from core.deletion import InUse
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import Crumb, deletion_page, form_page, respond_after_change
from projects.forms import AccessRuleForm
from projects.models import Department, Project
from projects.scopes import OwningScope, find_scope, find_scopes
from projects.views.pages import form_methods


@require_safe
@login_required
def scope_rules(request: Request, scope: str) -> HttpResponse:
    """Who has access to a scope: by its own rules, and by those of the scopes that contain it."""
    place = _find_visible_scope(request.user, scope, "access-rules.read")
    keys = [*place.scope_keys, access.ACCOUNT]
    scopes = find_scopes(keys)
    rows = AccessRule.objects.in_force().filter(scope__in=keys).for_list()
    own_key = place.key
    may_delete = access.may(request.user, "access-rules.delete", *place.scope_keys)
    described = [
        {
            "rule": rule,
            "inherited_from": "" if rule.scope == own_key else str(scopes[rule.scope]),
            "may_remove": may_delete
            and rule.scope == own_key
            and rules.may_give(request.user, rule.role, *place.scope_keys),
        }
        for rule in sorted(rows, key=lambda rule: keys.index(rule.scope))
    ]
    context = {
        "scope": place,
        "rows": described,
        "may_add": access.may(request.user, "access-rules.create", *place.scope_keys),
        "back": _home(place),
    }
    return render_partial(request, "projects/access.html", "rows", context)


@form_methods
@login_required
def add(request: Request, scope: str) -> HttpResponse:
    place = _find_visible_scope(request.user, scope, "access-rules.create")
    address = reverse("scope-access", args=[place.key])
    form = AccessRuleForm(
        request.POST if request.method == "POST" else None, by=request.user, scope=place
    )
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            rule = rules.add_rule(
                form.find_subject(),
                form.selected_role,
                by=request.user,
                scope_keys=place.scope_keys,
                until=form.until,
            )
            messages.success(request, f"{rule.subject} has the role {rule.role} in {place}.")
            return respond_after_change(request, address)
    return form_page(
        request,
        form,
        title=f"Give access to {place}",
        submit="Add access rule",
        fields="components/inputs.html",
        crumb=(f"Access to {place}", address),
    )


@form_methods
@permission_required("access-rules.delete")
def remove(request: Request, pk: int) -> HttpResponse:
    rule = get_object_or_404(AccessRule.objects.for_list(), pk=pk)
    place = find_scope(rule.scope)
    if place is None or not access.may(request.user, "access-rules.read", *place.scope_keys):
        raise Http404
    return deletion_page(
        request,
        rule,
        "access rule",
        _refusable(lambda: rules.remove_rule(rule, by=request.user, scope_keys=place.scope_keys)),
        text=f"{rule.subject} loses the role {rule.role} in {place}, with immediate effect. "
        "Workloads keep running.",
        crumb=(f"Access to {place}", reverse("scope-access", args=[rule.scope])),
    )


@require_safe
@login_required
def person(request: Request, pk: int) -> HttpResponse:
    """What someone may do, and by which rule. Everyone sees their own page."""
    if request.user.pk != pk:
        access.require(request.user, "users.read")
    user = get_object_or_404(User, pk=pk)
    rows = list(AccessRule.objects.in_force().about(user).for_list())
    scopes = find_scopes({rule.scope for rule in rows})
    described = [
        {
            "rule": rule,
            "scope": str(scopes[rule.scope]),
            "words": permission_words(rule.role.permissions),
        }
        for rule in rows
        if rule.scope in scopes
    ]
    crumb = (
        ("Service accounts", reverse("service-account-list"))
        if user.is_service_account
        else ("Users", reverse("user-list"))
    )
    context = {"person": user, "rows": described, "crumb": crumb, "mine": request.user == user}
    return render_partial(request, "projects/person_access.html", "rows", context)


@form_methods
@permission_required("groups.delete")
def delete_group(request: Request, pk: int) -> HttpResponse:
    group = get_object_or_404(UserGroup, pk=pk)
    uses = _uses(group, AccessRule.objects.filter(group=group))
    return deletion_page(
        request,
        group,
        "group",
        _unless(uses, lambda: groups.delete_group(group, by=request.user)),
        text="Members lose access to tools that are open to this group. A group from the "
        "identity provider comes back when a member signs in.",
        crumb=("Groups", reverse("group-list")),
        obstacle=uses,
    )


@form_methods
@permission_required("roles.delete")
def delete_role(request: Request, pk: int) -> HttpResponse:
    role = get_object_or_404(AccessRole, pk=pk)
    uses = roles.FIXED if role.predefined else _uses(role, AccessRule.objects.filter(role=role))
    return deletion_page(
        request,
        role,
        "role",
        _unless(uses, lambda: roles.delete_role(role, by=request.user)),
        text="No access rule gives it.",
        crumb=("Roles", reverse("role-list")),
        obstacle=uses,
    )


@form_methods
@permission_required("service-accounts.delete")
def delete_service_account(request: Request, pk: int) -> HttpResponse:
    account = get_object_or_404(User, pk=pk, is_service_account=True)
    uses = _uses(account, AccessRule.objects.filter(user=account))
    return deletion_page(
        request,
        account,
        "service account",
        _unless(uses, lambda: service_accounts.delete_service_account(account, by=request.user)),
        text="Programs that use it lose access immediately. Its workloads keep running.",
        crumb=("Service accounts", reverse("service-account-list")),
        obstacle=uses,
    )


def _uses(used: Model, rows: AccessRuleQuerySet) -> str:
    """Return why something with these rules cannot be deleted, with the names of scopes."""
    scopes = find_scopes(set(rows.values_list("scope", flat=True)))
    names = {key: str(scope) for key, scope in scopes.items()}
    return rules.why_in_use(used, rows, names)


def _unless(uses: str, delete: Callable[[], None]) -> Callable[[], None]:
    """Return a deletion that is refused with ``uses`` if there are any. The service would name
    scopes by their keys."""

    def delete_unless_used() -> None:
        if uses:
            raise InUse(uses)
        delete()

    return delete_unless_used


def _find_visible_scope(user: User, key: str, action: str) -> OwningScope:
    """Return a scope where a user has a permission. Raises ``Http404`` if they may not see it, and
    ``PermissionDenied`` if they may not do this there."""
    place = find_scope(key)
    if place is None or not _is_visible(place, user, action):
        raise Http404
    access.require(user, action, *place.scope_keys)
    return place


def _is_visible(place: OwningScope, user: User, action: str) -> bool:
    holder = place.holder
    if holder is None or access.may(user, action, *place.scope_keys):
        return True
    if isinstance(holder, Project):
        return access.may(user, "projects.read", *place.scope_keys)
    if isinstance(holder, Department):
        return access.may(user, "departments.read", *place.scope_keys)
    return Cluster.objects.visible_to(user).filter(pk=holder.pk).exists()


def _home(place: OwningScope) -> Crumb:
    """Return the page that the page of access belongs to."""
    holder = place.holder
    if isinstance(holder, Project | Cluster):
        return str(holder), holder.get_absolute_url()
    if isinstance(holder, Department):
        return "Departments", reverse("department-list")
    return "Users", reverse("user-list")


def _refusable(delete: Callable[[], Any]) -> Callable[[], None]:
    """Turn the refusal of the last administrator into one that the page of a deletion shows."""

    def refuse_or_delete() -> None:
        try:
            delete()
        except ValidationError as error:
            raise InUse(" ".join(error.messages)) from error

    return refuse_or_delete
