"""How django-allauth behaves here."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up: an administrator makes every user."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Whom the identity provider knows comes in, as a researcher without projects at first."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True
