"""Calls that arrive at the same moment: nothing is lost, and nothing is done twice."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from accounts import tokens
from accounts.models import AccessKey, User
from projects.models import Department
from tests.config.rest.sent_examples import requests, settle
from tests.factories import DepartmentFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait(10)
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def ask(user: User, method: str, path: str, body: Any, **headers: str) -> Callable[[], Any]:
    bearer = {"Authorization": f"Bearer {tokens.access_token_for(user)}", **headers}
    sent: dict[str, Any] = {
        "data": json.dumps(body),
        "content_type": "application/json",
        "headers": bearer,
    }
    return lambda: Client().generic(method, f"/api/v1{path}", **sent)


def test_two_changes_at_once_lose_nothing() -> None:
    administrator = UserFactory.create(administrator=True)
    for _ in range(3):
        department = DepartmentFactory.create()
        path = f"/org-unit/departments/{department.pk}/resources"
        changes = [{"gpu": {"deserved": 3}}], [{"cpu": {"deserved": 5}}]
        answers = at_once(*(ask(administrator, "PATCH", path, change) for change in changes))
        assert [it.status_code for it in answers] == [200, 200]
        row = Department.objects.get(pk=department.pk)
        assert (row.gpu_quota, row.cpu_quota) == (3, 5)


def test_an_idempotency_key_that_is_sent_twice_at_once_makes_one_thing() -> None:
    administrator = UserFactory.create(administrator=True)
    twice = [
        ask(administrator, "POST", "/access-keys", {"name": "ci"}, **{"Idempotency-Key": "k"})
    ] * 2
    answers = at_once(*twice)
    assert [it.status_code for it in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert AccessKey.objects.count() == 1


#: What is created without a name of its own, or of several in one call.
UNNAMED = {
    "access_key",
    "access_rule",
    "many_access_rules",
    "device_sign_in",
    "token",
    "webhook",
    "workflow",  # of a name there are many, which are numbered
} | {"subscription"}
TOGETHER = {"many_distributed", "many_trainings", "many_workspaces", "from_batch_script"}


def test_of_two_new_things_of_one_name_the_second_is_refused(sent: object) -> None:
    place, administrator = settle()
    asked = {it.name.removeprefix("create_"): it for it in requests(place, "POST")}
    named = {name for name, it in asked.items() if it.name.startswith("create_")}
    both = {}
    for name in sorted(named - UNNAMED - TOGETHER):
        if "meta" in asked[name].body:  # assets of several types have their names together
            asked[name].body["meta"]["name"] = name.replace("_", "-")
        answers = at_once(*[partial(asked[name].send, administrator)] * 2)
        both[name] = sorted(it.status_code for it in answers)
    assert len(both) > 25
    assert {name: it for name, it in both.items() if it not in ([201, 409], [202, 409])} == {}
