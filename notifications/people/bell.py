"""The bell in the top bar of every page: how many notifications are unread."""

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from notifications.models import Notification

MOST_COUNTED = 100  # more are shown as 99+


def count_unread(user: User | AnonymousUser) -> int:
    """Return how many of the user's notifications are unread, at most ``MOST_COUNTED``."""
    if not isinstance(user, User):
        return 0
    return Notification.objects.visible_to(user).unread().order_by()[:MOST_COUNTED].count()


def add_unread_notifications(request: HttpRequest) -> dict[str, object]:
    """Context processor with a lazy number, so that only pages with the bell ask for it."""
    user = getattr(request, "user", AnonymousUser())
    return {"unread_notifications": SimpleLazyObject(lambda: count_unread(user))}
