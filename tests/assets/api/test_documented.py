"""The curl calls of docs/rest.md about assets work as they are pasted, one after the other."""

import re

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.pasting import HERE, needs_a_shell, pasted, shown

pytestmark = [pytest.mark.django_db(transaction=True), needs_a_shell]


def test_the_calls_that_the_page_on_rest_shows_for_assets_work(
    researcher: User, project: Project, live_server: LiveServer
) -> None:
    commands = shown()["Assets"]
    token = tokens.access_token_for(researcher)
    assert len(commands) >= 2
    entries = []
    for command in commands:
        localized = command.replace(HERE, live_server.url)
        localized = re.sub(r'"projectId": 1\b', f'"projectId": {project.pk}', localized)
        answer = pasted(localized, token)
        assert "complianceIssues" not in answer, answer
        entries += answer.get("entries", [])
    assert [entry["meta"]["name"] for entry in entries] == ["half-gpu"]
