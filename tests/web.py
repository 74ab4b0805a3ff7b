"""Helpers for tests of pages."""

from typing import Any

from django.test import Client

from accounts.models import User

HTMX: dict[str, Any] = {"HTTP_HX_REQUEST": "true"}
DRAWER: dict[str, Any] = {**HTMX, "HTTP_HX_TARGET": "drawer"}


def signed_in(user: User) -> Client:
    """Return a test client that is signed in as a user."""
    client = Client()
    client.force_login(user)
    return client
