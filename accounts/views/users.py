"""The list of users, their passwords and their deactivation. ``projects/views/users.py`` creates
and edits users together with their projects."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, services
from accounts.forms import password_form
from accounts.http import Request, permission_required
from accounts.models import User
from core.forms.form import collect_errors
from core.web.http import render_partial
from core.web.pages import form_page, respond_after_change
from core.web.query import search_text

USERS_A_PAGE = 50
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@permission_required("users.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    users = User.objects.people().order_by("username")
    if text:
        names = Q(first_name__icontains=text) | Q(last_name__icontains=text)
        users = users.filter(Q(username__icontains=text) | Q(email__icontains=text) | names)
    page = Paginator(users, USERS_A_PAGE).get_page(request.GET.get("page"))
    roles = access.account_roles_of(page)
    rows = [(user, ", ".join(roles[user.pk])) for user in page]
    context = {"page": page, "rows": rows, "q": text}
    return render_partial(request, "accounts/users.html", "rows", context)


@form_methods
@permission_required("users.update")
def password(request: Request, pk: int) -> HttpResponse:
    user = get_object_or_404(User.objects.people(), pk=pk)
    form = password_form(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            services.reset_password(user, form.values.get("password", ""), by=request.user)
            messages.success(request, f"{user} has a new password and must sign in again.")
            return respond_after_change(request, reverse("user-list"))
    return form_page(
        request,
        form,
        title=f"Reset the password of {user}",
        submit="Reset password",
        fields="components/inputs.html",
        crumb=("Users", reverse("user-list")),
    )


@require_POST
@permission_required("users.update")
def activity(request: Request, pk: int) -> HttpResponse:
    """Activate or deactivate a user: ``active`` is ``yes`` or ``no``."""
    user = get_object_or_404(User.objects.people(), pk=pk)
    is_active = request.POST.get("active") == "yes"
    try:
        services.set_active(user, is_active, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(
            request, f"{user} {'can sign in again' if is_active else 'is signed out'}."
        )
    return respond_after_change(request, reverse("user-list"))
