"""How an answer of an identity provider that nobody can be signed in with is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest

WELL_KNOWN = "https://id.example.com/.well-known/openid-configuration"


def refusal(read: Callable[[], Any]) -> str:
    """The page that is shown."""
    request = HttpRequest()
    request.csp_nonce = ""  # type: ignore[attr-defined]
    with context.request_context(request), pytest.raises(ImmediateHttpResponse) as refused:
        read()
    assert refused.value.response.status_code == 502
    return str(refused.value.response.content.decode())
