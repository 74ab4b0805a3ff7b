"""NVIDIA's Python client with a running server, signed in by an administrator's access key."""

from typing import Any

import pytest
from runai import api, models
from runai.api_client import ApiClient
from runai.configuration import Configuration

from accounts import tokens
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory


class RunaiCaller:
    """Calls operations of the client by name. ``takes`` is the client's model that must accept the
    answer, if it has one. ``works`` collects the operations that worked."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client
        self.works = set[str]()

    def __call__(self, name: str, *args: Any, takes: str = "", **given: Any) -> Any:
        kind, method = name.split(".")
        response = getattr(getattr(api, kind)(self.client), method)(*args, **given)
        assert 200 <= response.status_code < 300, response.data
        for body in response.data if isinstance(response.data, list) else [response.data]:
            if takes:
                getattr(models, takes).model_validate(body)
        self.works.add(name)
        return response.data


@pytest.fixture
def project(transactional_db: None) -> Project:
    return ProjectFactory.create(name="vision")


@pytest.fixture
def runai(live_server: Any, project: Project, sent: object) -> RunaiCaller:
    """A caller of the client's operations."""
    administrator = UserFactory.create(administrator=True, username="boss")
    key, secret = tokens.make_key(administrator, "ci")
    configuration = Configuration(
        client_id=key.client_id,
        client_secret=secret,
        runai_base_url=live_server.url,
        retry_enabled=False,
    )
    client = ApiClient(configuration)
    # The client signs in with its key. Then it continues as the person, because a key cannot create
    # keys.
    client.set_default_header("authorization", f"Bearer {tokens.access_token_for(administrator)}")
    return RunaiCaller(client)
