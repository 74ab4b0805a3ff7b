"""schemathesis: whatever the OpenAPI document allows is answered as it says.

Random, from a seed that a failure prints. ``make test-all`` gives each of the two tests
``API_SECONDS``.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle
from random import Random
from time import monotonic
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from django.test.client import ClientHandler
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts import tokens
from accounts.models import User
from tests.described import document
from tests.fuzz.conftest import Place

SECONDS = float(os.environ.get("API_SECONDS", "8"))


def no_mistake_of_ours(context: Any, response: Any, case: Any) -> None:
    """501 is the documented answer to what is not measured."""
    if response.status_code != 501:
        not_a_server_error(context, response, case)


CHECKS = [
    no_mistake_of_ours,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
HURRIED = settings(
    max_examples=4,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def headers(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.access_token_for(user)}"}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Django's, in the transaction of the test."""
    answer = ClientHandler(enforce_csrf_checks=False)({"REMOTE_ADDR": "127.0.0.1"} | environ)
    start_response(f"{answer.status_code} {answer.reason_phrase}", list(answer.items()))
    if getattr(answer, "is_async", False):
        return []  # a stream, which ends when nobody listens any more
    return [b"".join(answer)]


@cache
def described() -> Any:
    schema = schemathesis.openapi.from_dict(document())
    schema.app = application
    return schema


def operations(random: Random) -> Iterator[Any]:
    """All of them again and again, in another order each time, until the time is over."""
    every = [it.ok() for it in described().get_all_operations()]
    random.shuffle(every)
    end = monotonic() + SECONDS
    for operation in cycle(every):
        if monotonic() > end:
            return
        yield operation


@pytest.mark.extended
def test_every_call_answers_as_the_document_says(place: Place, random: Random) -> None:
    sent = headers(place.administrator)
    for operation in operations(random):

        @HURRIED
        @seed(random.randrange(2**32))
        @given(case=operation.as_strategy())
        def call(case: Any) -> None:
            with transaction.atomic():
                case.call_and_validate(checks=CHECKS, headers=sent)
                transaction.set_rollback(True)

        call()


@pytest.mark.extended
def test_the_links_of_what_was_created_answer_as_the_document_says(
    place: Place, random: Random
) -> None:
    sent = headers(place.administrator)

    class Linked(described().as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": sent}

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    end = monotonic() + SECONDS
    while monotonic() < end:
        machine = seed(random.randrange(2**32))(Linked)
        run_state_machine_as_test(
            machine, settings=settings(HURRIED, max_examples=1, stateful_step_count=8)
        )
