"""allauth's sign-in pages. If the answer of an identity provider cannot be used, they show a page
that says so, and not an error of Trainyard."""

import logging
from collections.abc import Callable
from typing import Any, cast

from allauth.account.internal.decorators import login_not_required
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from jwt import PyJWTError
from pydantic import ValidationError

from accounts.oidc.answers import UnusableAnswer
from accounts.oidc.provider import ProviderAdapter
from core import storage

log = logging.getLogger(__name__)

BAD_GATEWAY = 502
#: Other errors may be defects of Trainyard, so their traceback is logged.
EXPECTED_ERRORS = (UnusableAnswer, ValidationError, OAuth2Error)
PAGE = "socialaccount/authentication_error.html"


def sign_in_page(view: Any) -> Callable[..., HttpResponse]:
    """Return an allauth view as a function of a request and the provider's id."""

    def page(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            adapter = ProviderAdapter(request, provider_id)
            response: HttpResponse = view.adapter_view(adapter)(request)
        except SocialApp.DoesNotExist:
            raise Http404 from None
        except Exception as error:
            if storage.is_full(error) or storage.is_outage(error):
                raise
            reason = failure_reason(error)
            unexpected = None if isinstance(error, EXPECTED_ERRORS) else error
            log.warning(
                "A sign-in through %s failed: %s", settings.OIDC_NAME, reason, exc_info=unexpected
            )
            return render(request, PAGE, {"why": reason}, status=BAD_GATEWAY)
        return response

    return cast(Callable[..., HttpResponse], login_not_required(page))


def failure_reason(error: Exception) -> str:
    """Return why an answer cannot be used, without personal data or tokens."""
    if isinstance(error, UnusableAnswer):
        return str(error)
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{first['loc'][0]}: {first['msg']}"
    if isinstance(error.__cause__, PyJWTError):
        return f"its ID token is not valid: {error.__cause__}"
    return f"it cannot be fetched, or it is malformed or incomplete ({type(error).__name__})"


urlpatterns = [
    path("oidc/<provider_id>/login/", sign_in_page(OAuth2LoginView), name="openid_connect_login"),
    path(
        "oidc/<provider_id>/login/callback/",
        sign_in_page(OAuth2CallbackView),
        name="openid_connect_callback",
    ),
]
