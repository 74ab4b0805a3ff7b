"""A request that names a template gets what it leaves out from there, and keeps to its rules."""

from typing import Any
from uuid import uuid4

import pytest

from assets.models import Template
from projects.models import Project
from tests.caller import Body, Caller
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
CREATE = "/workloads/distributed"
RULES = [
    {"field": "worker.command", "locked": True, "why": "tested"},
    {"field": "worker.workingDir", "required": True},
]


@pytest.fixture
def template(project: Project) -> Template:
    chosen = {
        "environment": str(EnvironmentFactory(home=project).pk),
        "compute": str(ComputeResourceFactory(home=project).pk),
    }
    worker = {"assets": chosen, "values": {"command": "python train.py"}}
    draft = {
        "framework": "PyTorch",
        "architecture": "workers_only",
        "values": {"numWorkers": 2},
        "worker": worker,
        "rules": RULES,
    }
    made: Template = TemplateFactory(home=project, name="base", draft_json=draft)
    return made


def body(seed_body: Body, template: object, **spec: Any) -> dict[str, Any]:
    whole = seed_body() | {"templateId": str(template), "spec": {"workingDir": "/tmp"} | spec}
    return {key: value for key, value in whole.items() if not key.startswith("masterSpec")}


def issues(answer: dict[str, Any]) -> dict[str, str]:
    return {issue["field"]: issue["rule"] for issue in answer["complianceIssues"]}


def test_a_request_leaves_out_what_its_template_has(
    call: Caller, seed_body: Body, template: Template
) -> None:
    status, made = call("POST", CREATE, body(seed_body, template.pk, args="--epochs=3"))
    assert status == 202, made
    spec = made["spec"]
    assert (spec["command"], spec["args"], spec["numWorkers"]) == (
        "python train.py",
        "--epochs=3",
        2,
    )
    assert made["noMaster"] is True
    assert template.workloads.get().name == made["name"]


def test_the_rules_of_the_template_hold_for_programs_too(
    call: Caller, seed_body: Body, template: Template
) -> None:
    given = body(seed_body, template.pk, command="python mine.py", workingDir=None)
    wanted = {"spec.command": "canEdit", "spec.workingDir": "required"}
    status, refused = call("POST", CREATE, given)
    assert status == 400
    assert issues(refused) == wanted
    assert "is locked by template base: tested" in str(refused["complianceIssues"])
    status, tried = call("POST", f"{CREATE}?dryRun=true", given)
    assert (status, issues(tried)) == (200, wanted)


def test_a_dry_run_has_sources_rulings_and_manifests(
    call: Caller, seed_body: Body, template: Template
) -> None:
    secret = {"name": "HF_TOKEN", "value": "hunter2"}
    port = {"name": "board", "containerPort": 80, "connectionType": "ClusterIP"}
    shown = {"name": "page", "containerPort": 8080, "connectionType": "ExternalUrl"}
    given = body(
        seed_body, template.pk, environmentVariables=[secret], connections=[port, shown]
    ) | {"masterSpec": {"image": "kubeflow/pytorch-dist-mnist:latest", "workingDir": "/tmp"}}
    status, plan = call("POST", f"{CREATE}?dryRun=true", given)
    assert (status, plan["complianceIssues"]) == (200, [])
    sources = plan["sources"]
    assert sources["spec.command"] == "template base"
    assert sources["spec.workingDir"] == "user"
    assert sources["spec.image"].startswith("environment ")
    assert sources["spec.environmentVariables"] == "user"
    assert sources["spec.exposedUrls"] == sources["spec.ports"] == "user"
    assert sources["masterSpec.image"] == "user"
    assert plan["masterSpec"]["image"] == given["masterSpec"]["image"]
    rulings = {it["field"]: it for it in plan["rulings"]}
    locked = {"locked": True, "required": False, "source": "template base", "why": "tested"}
    assert rulings["spec.command"] == {"field": "spec.command"} | locked
    assert rulings["spec.workingDir"]["required"]
    assert "python train.py" in str(plan["manifests"])
    assert "hunter2" not in str(plan)


def test_an_invisible_template_or_one_of_another_kind_is_refused(
    call: Caller, seed_body: Body, template: Template
) -> None:
    others = TemplateFactory(home=ProjectFactory(), draft_json=template.draft_json)
    for pk in (uuid4(), others.pk):
        status, refused = call("POST", CREATE, body(seed_body, pk))
        assert status == 400
        assert "templateId" in issues(refused)
    status, refused = call("POST", "/workloads/trainings", body(seed_body, template.pk))
    assert status == 400
    assert "templateId" in issues(refused)
