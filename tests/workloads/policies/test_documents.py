"""The policy in docs/policies.md can be applied, and does what the page says."""

import re
from typing import Any

import pytest

from config.run.install import ROOT
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats.lines import parse_yaml
from tests.factories import UserFactory
from tests.policies.examples import make_policy
from tests.workloads.policies.projects import roomy_project
from tests.workloads.policies.shapes import shape_draft
from workloads.plan import plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
IMAGE = "registry.example.com/torch:2.5"
HOST_PATH = {"storage": {"hostPath": [{"name": "etc", "path": "/etc", "mountPath": "/etc"}]}}


def draft(project: Project, **values: Any) -> WorkloadDraft:
    made = shape_draft(project, 0)
    made.worker.values = {"image": IMAGE, **values}
    return made


def test_the_documented_policy_limits_what_the_page_says() -> None:
    user = UserFactory()
    project = roomy_project(members=[user])
    text = (ROOT / "docs/policies.md").read_text()
    example, removal = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    make_policy(project, parse_yaml(example).values)

    def broken(**values: Any) -> set[str]:
        found = plan(draft(project, **values), by=user).problems
        return {problem.field for problem in found if "policy limits" in problem.message}

    assert broken() == set()
    assert broken(image="docker.io/torch") == {"worker.image"}
    assert "worker.compute.gpuDevicesRequest" in broken(compute={"gpuDevicesRequest": 5})
    assert any("storage.hostPath" in field for field in broken(**HOST_PATH))
    planned = plan(draft(project), by=user)
    assert [it["name"] for it in planned.document["worker"]["tolerations"]] == ["gpu-nodes"]
    without_it = plan(draft(project, **parse_yaml(removal).values["spec"]), by=user)
    assert without_it.is_submittable
    assert without_it.document["worker"]["tolerations"] == []
