"""Rows for tests of webhooks and notifications."""

from factory.declarations import LazyFunction, SelfAttribute, Sequence, SubFactory, Trait
from factory.django import DjangoModelFactory

from notifications.delivery.mail_server import ROW_ID
from notifications.models import MailServer, Notification, Subscription, Webhook
from projects.scopes import Scope
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory


class WebhookFactory(DjangoModelFactory[Webhook]):
    """A webhook of the account for all events, or of a project if ``of_project``."""

    class Meta:
        model = Webhook

    class Params:
        of_project = Trait(
            scope=Scope.PROJECT,
            project=SubFactory(ProjectFactory),
            cluster=SelfAttribute("project.cluster"),
        )

    name = Sequence("hook-{}".format)
    url = "https://hooks.example.com/trainyard"
    events = LazyFunction(lambda: ["*"])
    scope = Scope.ACCOUNT


class MailServerFactory(DjangoModelFactory[MailServer]):
    """The saved mail server."""

    class Meta:
        model = MailServer
        django_get_or_create = ("id",)

    id = ROW_ID
    host = "smtp.example.com"
    sender = "trainyard@example.com"


class SubscriptionFactory(DjangoModelFactory[Subscription]):
    """A default subscription of a person for their own workloads."""

    class Meta:
        model = Subscription

    user = SubFactory(UserFactory)


class NotificationFactory(DjangoModelFactory[Notification]):
    """An unread notification of a person about a workload of theirs."""

    class Meta:
        model = Notification

    workload = SubFactory(WorkloadFactory, failed=True)
    user = SelfAttribute("workload.created_by")
    project = SelfAttribute("workload.project")
    cluster = SelfAttribute("workload.cluster")
    type = "workload.failed"
    title = "train failed"
