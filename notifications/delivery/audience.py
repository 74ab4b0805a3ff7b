"""Find the people who are told of something, by their subscriptions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from accounts import access
from accounts.models import User
from notifications.delivery.mail_server import find_active_server
from notifications.models import Notification, Subscription
from projects.models import Project
from workloads.models import Workload


@dataclass(frozen=True)
class Recipient:
    """A person who is told, as which type of the event, and whether by mail as well."""

    user: User
    type: str
    wants_mail: bool

    def notification(self, title: str, **columns: object) -> Notification:
        """Return a new notification for this person, which is not saved."""
        return Notification(
            user=self.user, type=self.type, title=title, wants_mail=self.wants_mail, **columns
        )


class Audience:
    """All subscriptions, read once for many events."""

    def __init__(self) -> None:
        self._users: dict[int, User | None] = {}
        self._own: dict[int, list[Subscription]] = defaultdict(list)
        self._of_project: dict[int, list[Subscription]] = defaultdict(list)
        subscriptions = Subscription.objects.select_related("user", "project")
        self.subscriptions = list(subscriptions.filter(user__is_active=True))
        for subscription in self.subscriptions:
            # One object for each person, because it keeps what they may see.
            known = self._users.setdefault(subscription.user_id, subscription.user)
            subscription.user = known or subscription.user
            if subscription.project_id:
                self._of_project[subscription.project_id].append(subscription)
            else:
                self._own[subscription.user_id].append(subscription)

    def of_workload(
        self,
        workload: Workload,
        types: Collection[str],
        *,
        but: int | None = None,
        minutes: int | None = None,
    ) -> Iterator[Recipient]:
        """Yield who is told of an event of this workload, except the user ``but``, who caused it.
        ``minutes``: only those who chose this time to be pending."""
        own = self.own_subscriptions(workload.created_by_id)
        matching = [
            subscription
            for subscription in (*own, *self._of_project[workload.project_id])
            if workload.kind in subscription.kinds
            and subscription.user_id != but
            and minutes in (None, subscription.pending_minutes)
        ]
        yield from self.recipients(matching, types, workload.project)

    def of_project(
        self, project: Project, owners: Iterable[int | None], types: Collection[str]
    ) -> Iterator[Recipient]:
        """Yield who is told of a condition of a project or its cluster: those who follow the
        project, and the ``owners`` of its active workloads."""
        own = [it for owner in owners for it in self.own_subscriptions(owner)]
        yield from self.recipients([*own, *self._of_project[project.pk]], types, project)

    def own_subscriptions(self, user_id: int | None) -> list[Subscription]:
        """Return the subscriptions of a user for their own workloads: a default one if they have no
        subscription at all."""
        if user_id is None or user_id in self._own:
            return self._own[user_id] if user_id else []
        if user_id not in self._users:
            self._users[user_id] = User.objects.filter(pk=user_id, is_active=True).first()
        user = self._users[user_id]
        is_new = user and not any(it.user_id == user_id for it in self.subscriptions)
        return [Subscription(user=user)] if user and is_new else []

    def recipients(
        self, subscriptions: Iterable[Subscription], types: Collection[str], project: Project
    ) -> Iterator[Recipient]:
        """Yield each person once, of whom a subscription has one of these types, if they may see
        the project's workloads."""
        chosen: dict[int, Recipient] = {}
        for subscription in subscriptions:
            user = subscription.user
            name = next((name for name in types if name in subscription.events), "")
            if not name or not access.may(user, "workloads.read", *project.scope_keys):
                continue
            earlier = chosen.get(user.pk)
            wants_mail = subscription.mail and bool(user.email) and self._has_mail_server
            if earlier is None:
                chosen[user.pk] = Recipient(user, name, wants_mail)
            elif wants_mail:
                chosen[user.pk] = Recipient(user, earlier.type, wants_mail)
        yield from chosen.values()

    @cached_property
    def _has_mail_server(self) -> bool:
        return find_active_server() is not None
