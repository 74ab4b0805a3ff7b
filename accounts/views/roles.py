"""The pages of roles. ``projects/views/access.py`` deletes one, because it names where a role is
in use."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import roles
from accounts.forms import RoleForm
from accounts.http import Request, permission_required
from accounts.models import AccessRole
from accounts.permissions import permission_words
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import form_page, respond_after_change

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@permission_required("roles.read")
def listing(request: Request) -> HttpResponse:
    rows = AccessRole.objects.annotate(rule_count=Count("access_rules")).order_by(
        "-predefined", "name"
    )
    described = [(role, permission_words(role.permissions)) for role in rows]
    return render_partial(request, "accounts/roles.html", "rows", {"rows": described})


@form_methods
@permission_required("roles.create")
def create(request: Request) -> HttpResponse:
    form = RoleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            role = roles.create_role(by=request.user, **form.service_values())
            messages.success(request, f"The role {role} was created.")
            return respond_after_change(request, reverse("role-list"))
    return _role_page(request, form, "New role", "Create role")


@form_methods
@permission_required("roles.update")
def edit(request: Request, pk: int) -> HttpResponse:
    role = get_object_or_404(AccessRole, pk=pk)
    form = RoleForm(request.POST if request.method == "POST" else None, role=role)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            roles.update_role(role, by=request.user, **form.service_values())
            messages.success(request, f"{role} was saved.")
            return respond_after_change(request, reverse("role-list"))
    return _role_page(request, form, f"Edit {form.initial['name']}", "Save changes")


def _role_page(request: Request, form: RoleForm, title: str, submit: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=("Roles", reverse("role-list")),
    )
