"""allauth's pages of signing in. Whatever an identity provider answers, they show a page that says
that it cannot be used, never an error of Trainyard."""

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
EXPECTED_ERRORS = (
    UnusableAnswer,
    ValidationError,
    OAuth2Error,
)  # the others may be defects of ours
PAGE = "socialaccount/authentication_error.html"


def sign_in_page(view: Any) -> Callable[..., HttpResponse]:
    """The allauth view as a function of a request and the provider's id."""

    def page(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            answer: HttpResponse = view.adapter_view(ProviderAdapter(request, provider_id))(request)
        except SocialApp.DoesNotExist:
            raise Http404 from None
        except Exception as error:
            if storage.is_full(error) or storage.is_outage(error):
                raise
            why = failure_reason(error)
            cause = None if isinstance(error, EXPECTED_ERRORS) else error
            log.warning("A sign-in through %s failed: %s", settings.OIDC_NAME, why, exc_info=cause)
            return render(request, PAGE, {"why": why}, status=BAD_GATEWAY)
        return answer

    return cast(Callable[..., HttpResponse], login_not_required(page))


def failure_reason(error: Exception) -> str:
    """Why an answer cannot be used, without values of a person or a token."""
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
