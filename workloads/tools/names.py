"""Which users the names in a tool's rule mean: a name is a username or an email address."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Q
from django.db.models.functions import Lower

from accounts.models import User


def is_named(user: User, names: Collection[str]) -> bool:
    """Whether one of the names means the user: their exact username, or their current email address
    in any case. An address that is shared, or is someone else's username, means nobody."""
    if user.username in names:
        return True
    address = user.email.lower()
    if not address or address not in {name.lower() for name in names}:
        return False
    return [it.pk for it in users_by_name([address])[address]] == [user.pk]


def users_by_name(names: Iterable[str]) -> dict[str, list[User]]:
    """Active users who have a name as their email address or username, in any case. The keys are
    names in lower case."""
    wanted = {name.lower() for name in names} - {""}
    lower = User.objects.alias(address=Lower("email"), name=Lower("username"))
    those = lower.filter(Q(address__in=wanted) | Q(name__in=wanted), is_active=True)
    held: defaultdict[str, list[User]] = defaultdict(list)
    for user in those.order_by("username") if wanted else ():
        for name in {user.email.lower(), user.username.lower()} & wanted:
            held[name].append(user)
    return held
