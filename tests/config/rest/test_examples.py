"""The requests that the OpenAPI document shows are accepted as they stand, but for the ids."""

import re
from typing import Any

import pytest
from django.db import transaction

from accounts.devices import sign_ins
from config.rest.examples import EXAMPLES
from tests.access.place import Place, build
from tests.caller import Caller
from tests.clusters.kubeconfigs import reached
from tests.described import document, operations

CALLS = {call["operationId"]: (name, call) for name, call in operations(document())}
SHOWN = {
    name: call["requestBody"]["content"]["application/json"].get("example")
    for name, (_, call) in CALLS.items()
    if "requestBody" in call
}


def test_each_request_with_a_body_has_an_example() -> None:
    assert [name for name, example in SHOWN.items() if not example] == []
    assert SHOWN.keys() == EXAMPLES.keys()


@pytest.mark.django_db
@pytest.mark.usefixtures("sent")
def test_each_example_is_accepted() -> None:
    place = build()
    user, boss = place.people["author"], place.people["administrator"]
    assert user
    assert boss
    user.username = "ada"
    for person in (user, boss):
        person.set_password("analytical-engine")
        person.save()
    place.ids["clusters"] = reached(name="kept").pk
    call = Caller(boss)
    refused = []
    for name, example in SHOWN.items():
        method, path = CALLS[name][0].split()
        asked = re.sub(r"([\w/-]+)/\{\w+\}", lambda it: f"{it[1]}/{place.named(it[1])}", path)
        with transaction.atomic():
            status, answer = call(method, asked.removeprefix("/api/v1"), here(example, place))
            transaction.set_rollback(True)
        if status >= 300:
            refused.append((name, status, answer["details"]))
    assert not refused, refused


def here(example: Any, place: Place) -> Any:
    """The same with ids of this place."""
    if isinstance(example, list):
        return [here(one, place) for one in example]
    if not isinstance(example, dict):
        return example
    number = place.project.pk
    ours: dict[str, Any] = {
        "clusterId": str(place.project.cluster_id),
        "ids": [str(place.workload.pk)],
        "deviceCode": sign_ins.begin("cli")[1],
        "scopeId": "" if example.get("scopeType") == "tenant" else str(number),
        "projectId": number if isinstance(example.get("projectId"), int) else str(number),
    }
    return {key: ours.get(key) or here(value, place) for key, value in example.items()}
