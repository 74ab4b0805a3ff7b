"""Context that every page gets."""

from django.conf import settings
from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, object]:
    return {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "oidc_name": settings.OIDC_NAME,
    }
