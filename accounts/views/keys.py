"""The pages of a user's own access keys."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts import tokens
from accounts.forms import KeyForm
from accounts.http import Request
from accounts.models import AccessKey
from core.forms.form import collect_errors
from core.rest import curl
from core.web.http import render_partial
from core.web.pages import Crumb, deletion_page, form_page

CRUMB = "Access keys"
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@login_required
def listing(request: Request) -> HttpResponse:
    context = {"keys": request.user.access_keys.all()}
    return render_partial(request, "accounts/keys.html", "rows", context)


@form_methods
@login_required
def create(request: Request) -> HttpResponse:
    """Create a key, and show its secret. The secret is shown only once, so the answer is this page
    and not a redirect."""
    form = KeyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with collect_errors(form):
            key, secret = tokens.make_key(
                request.user,
                form.values.get("name", ""),
                expires_at=form.expires_at,
                scopes=form.scopes,
            )
            return key_page(request, key, secret, crumb=(CRUMB, reverse("access-key-list")))
    return form_page(
        request,
        form,
        title="New access key",
        submit="Create access key",
        fields="components/inputs.html",
        crumb=(CRUMB, reverse("access-key-list")),
    )


@form_methods
@login_required
def delete(request: Request, pk: int) -> HttpResponse:
    key = get_object_or_404(request.user.access_keys, pk=pk)
    return deletion_page(
        request,
        key,
        "access key",
        lambda: tokens.delete_key(key, by=request.user),
        text="Programs that use it lose access immediately.",
        crumb=(CRUMB, reverse("access-key-list")),
    )


def key_page(request: Request, key: AccessKey, secret: str, *, crumb: Crumb) -> HttpResponse:
    """Render a new key with its secret, which browsers must not store."""
    context = {**_key_context(request, key, secret), "crumb": crumb}
    response = render(request, "accounts/key.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _key_context(request: Request, key: AccessKey, secret: str) -> dict[str, Any]:
    api = request.build_absolute_uri("/api/v1")
    body = {"grantType": "app_token", "clientID": key.client_id, "clientSecret": secret}
    return {
        "key": key,
        "secret": secret,
        "sign_in": curl.sign_in(f"{api}/token", body),
        "try_out": curl.get(f"{api}/workloads"),
    }
