"""Fixtures for callers of the API, and for the ``meta`` of an asset in their project."""

from collections.abc import Callable
from typing import Any

import pytest

from projects.models import Project
from tests.caller import Caller, call, project, researcher, stranger
from tests.factories import UserFactory

__all__ = ["call", "project", "researcher", "stranger"]

Meta = Callable[..., dict[str, Any]]


@pytest.fixture
def meta(project: Project) -> Meta:
    """A function that returns ``meta`` with changes on top."""

    def build(**changes: Any) -> dict[str, Any]:
        return {"name": "small", "scope": "project", "projectId": project.pk} | changes

    return build


@pytest.fixture
def admin_call(db: None) -> Caller:
    """An administrator who calls the API."""
    return Caller(UserFactory.create(administrator=True))
