"""The users to whom the names in a tool's rule belong. A name is a username or an email address."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Q
from django.db.models.functions import Lower

from accounts.models import User


def is_named(user: User, names: Collection[str]) -> bool:
    """Whether one of the names is the user's: their exact username, or their current email address
    in any case. An address that several users have, or that is the username of another one, is
    nobody's."""
    if user.username in names:
        return True
    address = user.email.lower()
    if not address or address not in {name.lower() for name in names}:
        return False
    owners = users_by_name([address])[address]
    return [owner.pk for owner in owners] == [user.pk]


def users_by_name(names: Iterable[str]) -> dict[str, list[User]]:
    """Return the active users who have a name as their email address or username, in any case. The
    keys are names in lower case."""
    found: defaultdict[str, list[User]] = defaultdict(list)
    wanted = {name.lower() for name in names} - {""}
    if not wanted:
        return found
    users = User.objects.alias(address=Lower("email"), name=Lower("username"))
    users = users.filter(Q(address__in=wanted) | Q(name__in=wanted), is_active=True)
    for user in users.order_by("username"):
        for name in {user.email.lower(), user.username.lower()} & wanted:
            found[name].append(user)
    return found
