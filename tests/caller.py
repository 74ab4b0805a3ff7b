"""Callers of the REST API, with tokens of their own, and fixtures for them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory


@dataclass
class Caller:
    """Calls REST as a user. Returns the status, and the JSON or else the response itself.

    If the user acts with an access key, the token belongs to that key.
    """

    user: User

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        token = tokens.access_token_for(self.user, key=self.user.acting_key)
        response = Client().generic(
            method,
            f"/api/v1{path}",
            data=b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        is_json = response.content and response.headers.get("Content-Type", "").startswith(
            "application/json"
        )
        return response.status_code, json.loads(response.content) if is_json else response


@pytest.fixture
def researcher(db: None) -> User:
    return UserFactory.create()


@pytest.fixture
def project(researcher: User) -> Project:
    return ProjectFactory.create(members=[researcher])


@pytest.fixture
def call(researcher: User) -> Caller:
    """A caller who is a member of ``project``."""
    return Caller(researcher)


@pytest.fixture
def stranger(db: None) -> Caller:
    """A caller without any project."""
    return Caller(UserFactory.create())


Body = Callable[..., dict[str, Any]]


@pytest.fixture
def seed_body(project: Project) -> Body:
    """A function that returns the body of the quickstart's curl call, with changes on top."""

    def body(**changes: Any) -> dict[str, Any]:
        return {
            "name": "workload-name",
            "projectId": str(project.pk),
            "clusterId": str(project.cluster_id),
            "spec": {
                "compute": {
                    "cpuCoreRequest": 0.1,
                    "gpuRequestType": "portion",
                    "cpuMemoryRequest": "100M",
                    "gpuDevicesRequest": 1,
                    "gpuPortionRequest": 0.1,
                },
                "image": "kubeflow/pytorch-dist-mnist:latest",
                "numWorkers": 2,
                "distributedFramework": "PyTorch",
            },
            **changes,
        }

    return body
