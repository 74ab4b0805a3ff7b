"""The request that the summary shows of a draft from a template makes the same workload."""

from typing import Any

import pytest
import yaml

from assets.models import Template
from projects.models import Project
from spec.formats import documents
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
)
from tests.workloads.wizard.browser import Wizard
from workloads.wizard.pages.outputs import Outputs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
LIST = "worker-environmentVariables"
ROW = {"worker-environmentVariables-0-name": "LR", "worker-environmentVariables-0-value": "1"}


@pytest.fixture
def template(project: Project) -> Template:
    image = {"image": "x:1", "environmentVariables": [{"name": "A", "value": "a"}]}
    environment = EnvironmentFactory(home=project, spec_json=image)
    compute = ComputeResourceFactory(home=project, spec_json={"cpuCoreRequest": 2})
    code = {"kind": "git", "git": {"repository": "https://example.com/a.git", "path": "/code"}}
    source = DataSourceFactory(home=project, spec_json=code)
    variables = [{"name": name, "value": "0"} for name in ("LR", "SEED")]
    values = {
        "environmentVariables": variables,
        "command": "python a.py",
        "dataSources": [{"id": str(source.pk)}],
    }
    document = {
        "architecture": "workers_only",
        "values": {"numWorkers": 2, "backoffLimit": 2},
        "worker": {
            "assets": {"environment": str(environment.pk), "compute": str(compute.pk)},
            "values": values,
        },
    }
    made: Template = TemplateFactory(home=project, name="base", draft_json=document)
    return made


@pytest.mark.parametrize(
    ("typed", "names_it"),
    [
        ({}, True),
        ({"numWorkers": "3"}, True),
        ({"worker-command": "python b.py"}, True),
        ({"numWorkers": "1"}, False),  # a default, which no request says
        ({"worker-command": ""}, False),
        ({"action": f"remove:{LIST}:1"}, False),
        ({"worker-environment": ""}, False),
    ],
)
def test_a_request_that_names_the_template_creates_the_same_workload(
    wizard: Wizard, template: Template, typed: dict[str, Any], *, names_it: bool
) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&project={template.project_id}")
    wizard.save(1, name="mine")
    wizard.save(2, **typed)
    plan = wizard.plan()
    outputs = Outputs(plan)
    body = yaml.safe_load(outputs.yaml)
    assert (body.get("templateId") == str(template.pk)) is names_it
    assert ("--template base" in outputs.line) is ("templateId" in outputs.curl) is names_it
    status, made = Caller(wizard.user)("POST", "/workloads/distributed?dryRun=true", body)
    if plan.spec is None:  # nothing to compare: its environment is gone
        assert status == 400
        return
    assert status == 200, made
    expected = documents.to_wire(documents.dump_spec(plan.spec))
    assert made["spec"] | {"storage": None} == expected | {"storage": None}
    assert made["spec"]["storage"]["git"] == expected["storage"]["git"]
