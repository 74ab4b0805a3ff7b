"""Whom the names in the rule of a tool mean: usernames and email addresses."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Q
from django.db.models.functions import Lower

from accounts.models import User


def is_meant(user: User, names: Collection[str]) -> bool:
    """By the username as it is written, or by the email address in any case: that of who has it
    now. One that several people have, or that is another's username, means nobody."""
    if user.username in names:
        return True
    address = user.email.lower()
    if not address or address not in {name.lower() for name in names}:
        return False
    return [it.pk for it in holders([address])[address]] == [user.pk]


def holders(names: Iterable[str]) -> dict[str, list[User]]:
    """By the name in lower case, everyone who may sign in and has it as an email address or a
    username, in any case."""
    wanted = {name.lower() for name in names} - {""}
    lower = User.objects.alias(address=Lower("email"), name=Lower("username"))
    those = lower.filter(Q(address__in=wanted) | Q(name__in=wanted), is_active=True)
    held: defaultdict[str, list[User]] = defaultdict(list)
    for user in those.order_by("username") if wanted else ():
        for name in {user.email.lower(), user.username.lower()} & wanted:
            held[name].append(user)
    return held
