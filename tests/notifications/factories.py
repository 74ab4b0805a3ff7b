"""Rows for tests of webhooks."""

from factory.declarations import LazyFunction, SelfAttribute, Sequence, SubFactory, Trait
from factory.django import DjangoModelFactory

from notifications.models import Webhook
from projects.scopes import Scope
from tests.factories import ProjectFactory


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
