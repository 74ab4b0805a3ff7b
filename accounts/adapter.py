"""How django-allauth behaves here."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up: an administrator makes every user."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
