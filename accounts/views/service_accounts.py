"""The pages of service accounts. ``projects/views/access.py`` deletes one, because it names where
an account has roles."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import service_accounts
from accounts.http import Request, permission_required
from accounts.models import User
from accounts.views.keys import key_page
from core.forms.field import Field
from core.forms.form import Form, collect_errors
from core.web.http import render_partial
from core.web.pages import Crumb, form_page, question_page, respond_after_change

form_methods = require_http_methods(["GET", "HEAD", "POST"])
NAME = Field(
    "name", "Name", hint="Lower-case letters, digits and hyphens, such as ci.", required=True
)


def _crumb() -> Crumb:
    return "Service accounts", reverse("service-account-list")


@require_safe
@permission_required("service-accounts.read")
def listing(request: Request) -> HttpResponse:
    rows = User.objects.filter(is_service_account=True).prefetch_related("access_keys")
    context = {"accounts": rows.order_by("username")}
    return render_partial(request, "accounts/service_accounts.html", "rows", context)


@form_methods
@permission_required("service-accounts.create")
def create(request: Request) -> HttpResponse:
    """Create a service account, and show its secret. The secret is shown only once, so the answer
    is this page and not a redirect."""
    form = Form((NAME,), {}, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            name = str(form.values.get("name", ""))
            _, key, secret = service_accounts.create_service_account(by=request.user, name=name)
            return key_page(request, key, secret, crumb=_crumb())
    return form_page(
        request,
        form,
        title="New service account",
        submit="Create service account",
        fields="components/inputs.html",
        crumb=_crumb(),
    )


@require_POST
@permission_required("service-accounts.update")
def activity(request: Request, pk: int) -> HttpResponse:
    """Enable or disable a service account: ``active`` is ``yes`` or ``no``."""
    account = get_object_or_404(User, pk=pk, is_service_account=True)
    is_enabled = request.POST.get("active") == "yes"
    try:
        service_accounts.set_enabled(account, is_enabled, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{account} is {'enabled' if is_enabled else 'disabled'}.")
    return respond_after_change(request, reverse("service-account-list"))


@form_methods
@permission_required("service-accounts.update")
def secret(request: Request, pk: int) -> HttpResponse:
    """Ask whether to create a new secret (GET), then show it (POST)."""
    account = get_object_or_404(User, pk=pk, is_service_account=True)
    if request.method == "POST":
        key, new = service_accounts.renew_secret(account, by=request.user)
        return key_page(request, key, new, crumb=_crumb())
    return question_page(
        request,
        title=f"New secret for {account}?",
        text="The old secret and its tokens stop working immediately.",
        submit="Create secret",
        crumb=_crumb(),
    )
