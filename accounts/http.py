"""A request of someone who signed in."""

from accounts.models import User
from core.http import HtmxRequest


class Request(HtmxRequest):
    """What ``login_required`` and our middleware guarantee: a user and htmx's details."""

    user: User
