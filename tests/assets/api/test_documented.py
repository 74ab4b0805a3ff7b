"""The curl calls of docs/rest.md about assets work as they are pasted, one after the other."""

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts import tokens
from accounts.models import User
from config.run.install import ROOT
from projects.models import Project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="no curl here"),
]


def documented() -> list[str]:
    text = (ROOT / "docs" / "rest.md").read_text()
    section = text.partition("\n## Assets\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\n(curl .*?)```", section, re.MULTILINE | re.DOTALL)


def pasted(command: str, token: str) -> Any:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],  # noqa: S607 -- whichever bash people have
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"TOKEN": token, "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )
    return json.loads(done.stdout)


def test_the_calls_that_the_page_on_rest_shows_for_assets_work(
    researcher: User, project: Project, live_server: LiveServer
) -> None:
    commands, token = documented(), tokens.issue(researcher)
    assert len(commands) >= 2
    entries = []
    for command in commands:
        here = command.replace("http://127.0.0.1:8000", live_server.url)
        here = re.sub(r'"projectId": 1\b', f'"projectId": {project.pk}', here)
        answer = pasted(here, token)
        assert "complianceIssues" not in answer, answer
        entries += answer.get("entries", [])
    assert [entry["meta"]["name"] for entry in entries] == ["half-gpu"]
