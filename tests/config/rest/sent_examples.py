"""The example requests of the OpenAPI document, with the ids of a place that has one of
everything."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.test import Client

from accounts import tokens
from accounts.devices import sign_ins
from accounts.models import User
from config.rest.examples import WORKFLOW
from tests.access.population import Population, build
from tests.clusters.kubeconfigs import reached
from tests.described import document, operations
from tests.notifications.factories import SubscriptionFactory
from tests.workflows.graphs import WorkflowFactory
from workflows.models import Workflow
from workflows.statuses import Status

CALLS = {call["operationId"]: (name, call) for name, call in operations(document())}
FAILED_WORKFLOW = "failed workflow"
SHOWN = {
    name: call["requestBody"]["content"]["application/json"].get("example")
    for name, (_, call) in CALLS.items()
    if "application/json" in call.get("requestBody", {}).get("content", ())
}


@dataclass(frozen=True)
class ExampleRequest:
    """A request of the document. ``name`` is the operation id; ``body`` is ``None`` if it
    has none."""

    name: str
    method: str
    path: str
    body: Any

    def send(self, user: User, query: str = "", **headers: str) -> Any:
        """Send the request as a user, and return the response."""
        return Client().generic(
            self.method,
            self.path + query,
            b"" if self.body is None else json.dumps(self.body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {tokens.access_token_for(user)}", **headers},
        )


def settle() -> tuple[Population, User]:
    """Create what the examples name. Returns the place, and an administrator who may send
    them all."""
    place = build()
    user = place.people["author"]
    administrator = place.people["administrator"]
    assert user
    assert administrator
    user.username = "ada"
    for person in (user, administrator):
        person.set_password("analytical-engine")
        person.save()
    place.ids["subscriptions"] = SubscriptionFactory.create(user=administrator).pk
    place.ids["clusters"] = reached(name="kept").pk
    # One that has ended cannot be canceled.
    Workflow.objects.filter(pk=place.ids["workflows"]).update(status=Status.RUNNING)
    failed = WorkflowFactory.create(
        project=place.project,
        name="digits",
        original=WORKFLOW,
        status=Status.FAILED,
        one__name="train-group",
    )
    place.ids[FAILED_WORKFLOW] = failed.pk
    return place, administrator


def requests(place: Population, *methods: str) -> Iterator[ExampleRequest]:
    """Yield the request of each call with one of these methods."""
    for name, (line, _) in CALLS.items():
        method, path = line.split()
        if method in methods:
            body = SHOWN.get(name)
            there = place
            if name == "restart_workflow":  # one that runs cannot be restarted
                there = replace(place, ids=place.ids | {"workflows": place.ids[FAILED_WORKFLOW]})
            yield ExampleRequest(
                name, method, there.address(path, method), body and _here(body, place)
            )


def _here(example: Any, place: Population) -> Any:
    """Return an example with the ids of this place."""
    if isinstance(example, list):
        return [_here(one, place) for one in example]
    if not isinstance(example, dict):
        return example
    number = place.project.pk
    ours: dict[str, Any] = {
        "clusterId": str(place.project.cluster_id),
        "ids": [str(place.workload.pk)],
        "deviceCode": sign_ins.begin("cli")[1] if "deviceCode" in example else "",
        "scopeId": "" if example.get("scopeType") == "tenant" else str(number),
        "projectId": number if isinstance(example.get("projectId"), int) else str(number),
    }
    return {key: ours.get(key) or _here(value, place) for key, value in example.items()}
