"""Adapt django-allauth: who may sign up and sign in, and what the audit log records of it."""

import logging
from functools import partial
from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import get_ip
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts import groups, tokens
from accounts.models import AccessKey, User
from accounts.oidc.answers import request_json_object
from audit import services as audit

log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Disables sign-up, because administrators create all users, and limits wrong passwords.

    Wrong passwords are counted by address, and by username and address together, so that an
    attacker elsewhere cannot lock a user out. Wrong secrets of access keys are counted in the same
    way."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "The username or the password is not correct."
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        audit.record(user, "sign in", user)
        login = (options.get("signal_kwargs") or {}).get("sociallogin")
        if login:
            names = login.account.extra_data.get(settings.OIDC_GROUPS_CLAIM)
            groups.set_provided_groups(user, names)
        return cast(HttpResponse, super().post_login(request, user, **options))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        return f"{super()._get_login_attempts_cache_key(request, **credentials)}@{get_ip(request)}"

    def find_key(self, request: HttpRequest, client_id: str, secret: str) -> AccessKey | None:
        """Return the access key with these credentials; ``None`` if they are wrong.
        ``ValidationError`` after too many wrong ones."""
        self.pre_authenticate(request, username=f"access key {client_id}")
        key = tokens.find_key(client_id, secret)
        if key:
            self._rollback_login_failed_rl_usage()
        return key

    def set_password(self, user: User, password: str) -> None:
        """Set the user's own password. Administrators set one with ``accounts.services``."""
        with transaction.atomic():
            super().set_password(user, password)
            audit.record(user, "change password", user)


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Lets in everyone whom the identity provider knows. They start as researchers without
    projects."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Answer 409 with advice if another user has the address. allauth would ask for another
        address, but users do not choose their addresses here."""
        for address in sociallogin.email_addresses:
            if _is_taken(address.email):
                context = {"email": address.email}
                page = render(request, "accounts/address_taken.html", context, status=409)
                raise ImmediateHttpResponse(page)
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Refuse to connect a local account to the provider: that way in would outlast a reset of
        the password."""
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise PermissionDenied("An account here cannot be connected to one elsewhere")

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> User:
        """Clear a username that looks like an email address but is not the user's own. Tools let
        users in by either, so it could be taken for another user. allauth then creates a username
        from the address or the name."""
        user = cast(User, super().populate_user(request, sociallogin, data))
        is_address = "@" in user.username and user.username.lower() != user.email.lower()
        if is_address and (user.email or _is_taken(user.username)):
            user.username = ""
        return user

    def get_requests_session(self) -> Any:
        session = super().get_requests_session()
        session.request = partial(request_json_object, session.request)
        return session

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Leave an answer that cannot be used to ``accounts.oidc.urls``. In all other cases the
        provider refused, or it took too long, and allauth's page says so."""
        if exception and not isinstance(exception, PermissionDenied):
            raise exception
        reason = exception or f"{error} {request.GET.get('error', '')!r:.80}"
        log.warning("A sign-in through %s failed: %s", settings.OIDC_NAME, reason)

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        with transaction.atomic():
            user = cast(User, super().save_user(request, sociallogin, form))
            audit.record(user, "create", user, after=audit.facts(user))
        return user


def _is_taken(address: str) -> bool:
    """Whether a user has this email address, in upper or lower case."""
    # allauth alone does not find an address that an administrator entered with capitals.
    is_on_a_user = User.objects.filter(email__iexact=address).exists()
    return is_on_a_user or bool(filter_users_by_email(address))
