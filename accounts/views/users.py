"""Users, for administrators."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services
from accounts.forms import EditUserForm, PasswordForm, UserForm
from accounts.http import Request, administrators_only
from accounts.models import User
from core.forms import judged
from core.http import render_partial
from core.pages import done, form_page
from core.query import search_text

USERS_A_PAGE = 50
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@administrators_only
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    found = User.objects.annotate(project_count=Count("projects")).order_by("username")
    if text:
        names = Q(first_name__icontains=text) | Q(last_name__icontains=text)
        found = found.filter(Q(username__icontains=text) | Q(email__icontains=text) | names)
    page = Paginator(found, USERS_A_PAGE).get_page(request.GET.get("page"))
    return render_partial(request, "accounts/users.html", "rows", {"page": page, "q": text})


@form_methods
@administrators_only
def create(request: Request) -> HttpResponse:
    form = UserForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with judged(form):
            user = services.create_user(by=request.user, **form.values())
            messages.success(request, f"{user} can sign in now.")
            return done(request, reverse("user-list"))
    return _form(request, form, "New user", "Create user")


@form_methods
@administrators_only
def edit(request: Request, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    initial: dict[str, Any] = {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "role": user.role,
        "projects": user.projects.all(),
    }
    form = EditUserForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with judged(form):
            services.update_user(user, by=request.user, **form.values())
            messages.success(request, f"{user} is saved.")
            return done(request, reverse("user-list"))
    return _form(request, form, f"Edit {user}", "Save changes")


@form_methods
@administrators_only
def password(request: Request, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    form = PasswordForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with judged(form):
            services.reset_password(user, form.cleaned_data["password"], by=request.user)
            messages.success(request, f"{user} has a new password and signs in again.")
            return done(request, reverse("user-list"))
    return _form(request, form, f"Reset the password of {user}", "Reset password")


@require_POST
@administrators_only
def activity(request: Request, pk: int) -> HttpResponse:
    """Switch whether someone may sign in: ``active`` is ``yes`` or ``no``."""
    user = get_object_or_404(User, pk=pk)
    active = request.POST.get("active") == "yes"
    try:
        services.set_active(user, active, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{user} {'can sign in again' if active else 'is signed out'}.")
    return done(request, reverse("user-list"))


def _form(request: Request, form: forms.BaseForm, title: str, submit: str) -> HttpResponse:
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="components/fields.html",
        crumb=("Users", reverse("user-list")),
    )
