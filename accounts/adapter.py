"""How django-allauth behaves here."""

from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import get_ip
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from accounts import groups, tokens
from accounts.models import AccessKey, User
from audit import services as audit


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up: an administrator makes every user.

    Wrong passwords are counted by name *and* address, and by address: whoever tries a name from
    elsewhere locks nobody out. Access keys are counted alike.
    """

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def post_login(self, request: HttpRequest, user: User, **how: Any) -> HttpResponse:
        audit.record(user, "sign in", user)
        if login := (how.get("signal_kwargs") or {}).get("sociallogin"):
            groups.take_from_provider(user, _groups_claim(login.account.extra_data))
        return cast(HttpResponse, super().post_login(request, user, **how))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        return f"{super()._get_login_attempts_cache_key(request, **credentials)}@{get_ip(request)}"

    def key_of(self, request: HttpRequest, client_id: str, secret: str) -> AccessKey | None:
        """The access key of these credentials, ``None`` when they are wrong. ``ValidationError``
        after too many of those."""
        self.pre_authenticate(request, username=f"access key {client_id}")
        key = tokens.key_of(client_id, secret)
        if key:
            self._rollback_login_failed_rl_usage()
        return key

    def set_password(self, user: User, password: str) -> None:
        """Someone changes their own; what an administrator does is a verb of the services."""
        with transaction.atomic():
            super().set_password(user, password)
            audit.record(user, "change password", user)


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Whom the identity provider knows comes in, as a researcher without projects at first."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        with transaction.atomic():
            user = cast(User, super().save_user(request, sociallogin, form))
            audit.record(user, "create", user, after=audit.facts(user))
        return user


def _groups_claim(data: dict[str, Any]) -> Any:
    """What the identity provider says of the person's groups: in the user info, else the token."""
    name = settings.OIDC_GROUPS_CLAIM
    parts = [part for key in ("userinfo", "id_token") if isinstance(part := data.get(key), dict)]
    return next((part[name] for part in [*parts, data] if name in part), None)
