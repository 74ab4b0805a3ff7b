"""Names of a workflow file mean what they mean in the project."""

import pytest
from pytest_django import Settings

from accounts.models import User
from projects.models import Project
from spec.formats.lines import YamlError
from tests.factories import ClusterFactory, ProjectFactory
from tests.workflows.imports.files import one_task
from workflows.reading import WorkflowFile, read_file

FILE = WorkflowFile(one_task(workflow="resources:\n  default: {cpu: 1, platform: ovx-a40}\n"))


def node_type(project: Project, by: User) -> object:
    (group,) = read_file(FILE, project=project, by=by).graph.groups
    return group.document["worker"].get("nodeType")


def test_a_platform_is_the_node_type_that_administrators_give_it(
    project: Project, member: User, settings: Settings
) -> None:
    elsewhere = ProjectFactory.create(
        cluster=ClusterFactory.create(kind="kubernetes"), members=[member]
    )
    assert node_type(elsewhere, member) is None
    settings.WORKFLOW_PLATFORMS = {"ovx-a40": "nvidia-a40"}
    assert node_type(elsewhere, member) == "nvidia-a40"
    assert node_type(project, member) is None, "this machine has no node types"
    settings.WORKFLOW_PLATFORMS = {"dgx": "nvidia-h100"}
    with pytest.raises(YamlError, match=r"line 8: .* there is no platform ovx-a40; use dgx"):
        node_type(elsewhere, member)
