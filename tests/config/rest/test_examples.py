"""The requests that the OpenAPI document shows are accepted as they stand, except for the ids. Each
call that changes something keeps the promises that all of them make."""

from typing import Any

import pytest
from django.apps import apps
from django.db import transaction

from accounts.models import User
from config.rest.examples import EXAMPLES
from tests.access.population import Population
from tests.config.rest.sent_examples import SHOWN, requests, settle

#: They sign someone in, so nobody is known whose call could be tried, or done once.
SIGN_IN = {"create_token", "create_device_sign_in", "collect_device_key"}
NOT_THEIRS = ("delete_access_key", 404)  # that of another person


@pytest.fixture
def place(db: None, sent: list[Any]) -> tuple[Population, User]:
    return settle()


def test_each_request_with_a_body_has_an_example() -> None:
    assert [name for name, example in SHOWN.items() if not example] == []
    assert SHOWN.keys() == EXAMPLES.keys()


def test_each_example_is_accepted_and_each_post_runs_once_per_key(
    place: tuple[Population, User],
) -> None:
    there, administrator = place
    refused = []
    again = []
    for request in requests(there, "POST", "PUT", "PATCH"):
        administrator.refresh_from_db()
        with transaction.atomic():
            answer = request.send(administrator, **{"Idempotency-Key": "k"})
            administrator.refresh_from_db()  # a new password ends the tokens of the old one
            if answer.status_code >= 300 and request.name in SHOWN:
                refused.append((request.name, answer.json()))
            elif request.method == "POST" and answer.status_code < 300:
                second = request.send(administrator, **{"Idempotency-Key": "k"})
                if "Idempotent-Replayed" not in second:
                    again.append(request.name)
            transaction.set_rollback(True)
    assert not refused, refused
    assert set(again) == SIGN_IN


def test_no_call_that_is_tried_leaves_a_trace(place: tuple[Population, User]) -> None:
    there, administrator = place
    every = requests(there, "POST", "PUT", "PATCH", "DELETE")
    tried = [it for it in every if it.name not in SIGN_IN]
    before = everything()
    refused = []
    for request in tried:
        answer = request.send(administrator, "?dryRun=true")
        if answer.status_code >= 300 and request.name in SHOWN:
            refused.append((request.name, answer.json()))
    assert not refused, refused
    after = everything()
    assert [name for name, rows in after.items() if rows != before[name]] == []


def everything() -> dict[str, list[Any]]:
    """Every row of every table."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values())
        for model in apps.get_models()
    }


def test_no_edit_is_done_to_what_has_changed_since(place: tuple[Population, User]) -> None:
    there, administrator = place
    done = []
    for request in requests(there, "PUT", "PATCH", "DELETE"):
        with transaction.atomic():
            answer = request.send(administrator, **{"If-Match": '"of another day"'})
            transaction.set_rollback(True)
        if answer.status_code != 412:
            done.append((request.name, answer.status_code))
    assert done == [NOT_THEIRS]
