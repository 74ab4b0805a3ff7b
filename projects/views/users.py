"""The pages that create and edit a user with their projects.

The other pages of users are in ``accounts/views/users.py``, which cannot import projects.
"""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from accounts import services as accounts
from accounts.http import Request, permission_required
from accounts.models import User
from core.forms.form import collect_errors
from core.web.pages import form_page, respond_after_change
from projects import members
from projects.forms import MemberForm
from projects.views.pages import form_methods


@form_methods
@permission_required("users.create")
def create(request: Request) -> HttpResponse:
    posted = request.POST if request.method == "POST" else None
    form = MemberForm(posted, initial={}, new=True)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form), transaction.atomic():
            user = accounts.create_user(
                by=request.user, role=form.selected_role, **form.service_values()
            )
            members.set_projects(user, form.selected_projects(), by=request.user)
            messages.success(request, f"{user} can sign in now.")
            return respond_after_change(request, reverse("user-list"))
    return _form(request, form, "New user", "Create user")


@form_methods
@permission_required("users.update")
def edit(request: Request, pk: int) -> HttpResponse:
    user = get_object_or_404(User.objects.people(), pk=pk)
    initial: dict[str, Any] = {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "projects": [str(project.pk) for project in members.projects_of(user)],
    }
    form = MemberForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form), transaction.atomic():
            accounts.update_user(user, by=request.user, **form.service_values())
            members.set_projects(user, form.selected_projects(), by=request.user)
            messages.success(request, f"{user} was saved.")
            return respond_after_change(request, reverse("user-list"))
    return _form(request, form, f"Edit {user}", "Save changes")


def _form(request: Request, form: MemberForm, title: str, submit: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/inputs.html",
        crumb=("Users", reverse("user-list")),
    )
