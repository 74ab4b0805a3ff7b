"""Every call that docs/rest.md shows works as it is pasted, but for the ids and the password. Those
about assets build on one another: ``tests/assets/api``."""

import json
import re
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts import tokens
from config.rest.examples import MANIFEST, SCRIPT
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory
from tests.pasting import HERE, needs_a_shell, pasted, shown

pytestmark = [pytest.mark.django_db(transaction=True), needs_a_shell]
SHOWN = {
    f"{heading} {number}": command
    for heading, commands in shown().items()
    if heading != "Assets"
    for number, command in enumerate(commands)
}


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(name="vision")


def at(server: str, command: str, project: Project) -> str:
    """The same with the ids of this place."""
    localized = command.replace(HERE, server).replace("<uuid>", str(project.cluster_id))
    localized = re.sub(r'("?projectId"?): "1"', rf'\1: "{project.pk}"', localized)
    return localized.replace('clusterId: "…"', f'clusterId: "{project.cluster_id}"')


@pytest.mark.parametrize("which", SHOWN)
def test_a_call_of_the_page_on_rest_works_as_it_is_pasted(
    which: str, project: Project, live_server: LiveServer, tmp_path: Path
) -> None:
    administrator = UserFactory.create(username="admin", administrator=True)
    administrator.set_password("…")  # the password of the page
    administrator.save()
    (tmp_path / "test.sh").write_text(SCRIPT)
    (tmp_path / "job.yaml").write_text(json.dumps(MANIFEST))
    answer = pasted(
        at(live_server.url, SHOWN[which], project), tokens.access_token_for(administrator), tmp_path
    )
    assert "complianceIssues" not in answer, answer
    made = {"accessToken", "workloadId", "workload", "values", "policy"}
    assert made & answer.keys(), answer


def test_the_page_shows_calls_of_each_way_to_submit() -> None:
    assert {"Submit 0", "From a batch script 0", "From a manifest 0"} <= SHOWN.keys()
