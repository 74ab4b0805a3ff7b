"""Tell people and administrators why an identity provider cannot sign someone in."""

import logging

from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.shortcuts import render

log = logging.getLogger(__name__)

BAD_GATEWAY = 502
LONGEST_CAUSE = 500  # characters
PAGE = "socialaccount/authentication_error.html"


def failed(why: str, at: str = "", cause: Exception | None = None) -> ImmediateHttpResponse:
    """The page that says why, as in "its user info has no sub", to raise. A line in the log says it
    with the address that was asked and the cause. No value of a person or a token is in either."""
    where, more = at and f" at {at}", f" ({cause})"[:LONGEST_CAUSE] if cause else ""
    log.warning("A sign-in through %s failed%s: %s%s", settings.OIDC_NAME, where, why, more)
    page = render(context.request, PAGE, {"why": why}, status=BAD_GATEWAY)
    return ImmediateHttpResponse(page)
