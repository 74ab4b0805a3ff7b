"""What this machine does not have is said before a workload is submitted, wherever one asks."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import User
from projects.models import Project
from tests.caller import Body, Caller, call, project, researcher, seed_body
from tests.factories import EnvironmentFactory
from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload

__all__ = ["call", "project", "researcher", "seed_body"]
pytestmark = pytest.mark.django_db


def test_rest_says_all_of_it_at_once_and_submits_nothing(call: Caller, seed_body: Body) -> None:
    body: Any = seed_body(name="Upper")
    body["spec"] |= {"command": "no-such-program", "workingDir": "/no/such/folder", "nodeType": "x"}
    status, answer = call("POST", "/workloads/distributed", body)
    fields = {issue["field"] for issue in answer["complianceIssues"]}
    assert status == 400
    assert fields == {"name", "spec.command", "spec.workingDir", "spec.nodeType"}
    assert not Workload.objects.exists()


def test_the_wizard_says_that_an_image_has_no_command_here(
    project: Project, researcher: User, settings: Settings
) -> None:
    settings.LOCAL_IMAGES = {"known/image:*": ["true"]}
    environment = EnvironmentFactory(home=project, spec_json={"image": "other/image"})
    wizard = Wizard(researcher).ready()
    wizard.save(2, **{"worker-environment": str(environment.pk)})
    problems = {problem.field: problem.message for problem in wizard.plan().problems}
    assert "known/image:*" in problems["worker.image"]
    assert "has no command on this machine" in wizard.open(wizard.at(3)).page
    wizard.press("create")
    assert not Workload.objects.exists()
    wizard.save(2, **{"worker-command": "no-such-program"})
    assert "is not a program on this machine" in wizard.open(wizard.at(3)).page
    wizard.save(2, **{"worker-command": "true"})
    wizard.open(wizard.at(3)).press("create")
    assert Workload.objects.get().project == project
