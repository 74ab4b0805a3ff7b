"""What every task of the worker has."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from config.celery import app
from core.frames import with_room

NAME = "tests.callers"


@pytest.fixture
def callers() -> Iterator[Any]:
    """A task that returns the names of the functions it is called by."""

    @app.task(name=NAME, lazy=False)
    def callers(first: int, *, last: int) -> list[str]:
        functions = [each.frame.f_code.co_name for each in inspect.stack(context=0)]
        return [str(first), *functions, str(last)]

    yield callers
    del app.tasks[NAME]


def test_tasks_have_room_for_deep_calls_and_get_what_was_sent(callers: Any) -> None:
    first, *functions, last = callers.apply(args=[1], kwargs={"last": 2}).get()
    assert (first, last) == ("1", "2")
    assert with_room.__name__ in functions


def test_a_task_knows_its_own_request() -> None:
    @app.task(name=NAME, bind=True, lazy=False)
    def own(self: Any) -> str:
        return str(self.request.id)

    try:
        assert own.apply(task_id="its-id").get() == "its-id"
    finally:
        del app.tasks[NAME]
