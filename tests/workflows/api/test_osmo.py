"""REST under OSMO's paths, as its command line calls them."""

from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.fuzz.bodies import WORKFLOW
from tests.workflows.graphs import advanced, definitions_of, group, put, submit, workload_of
from workflows.models import Workflow
from workloads.logs.store import Stream, append
from workloads.models import Event


@pytest.fixture
def osmo(member: User, project: Project) -> Any:
    """Return a function that calls one of OSMO's own paths."""
    client = Client(headers={"Authorization": f"Bearer {tokens.access_token_for(member)}"})

    def call(method: str, path: str, body: Any = None) -> Any:
        kwargs = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(client, method)(f"/api{path}", **kwargs)
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.status_code, answer.json() if is_json else answer.content.decode()

    return call


def test_submit_validates_renders_or_submits(osmo: Any, project: Project) -> None:
    path = f"/pool/{project.name}/workflow"
    file = WORKFLOW.replace("[sh]", "[sh, -c, '{{ word }}']") + "default-values: {word: 'true'}\n"
    sent = {"file": file, "set_variables": ["word=exit 3"], "uploaded_templated_spec": file}
    status, answer = osmo("post", f"{path}?validation_only=true", sent)
    assert (status, answer["logs"]) == (200, "Workflow validation succeeded.")
    status, answer = osmo("post", f"{path}?dry_run=true", sent)
    assert "exit 3" in answer["spec"]
    assert answer["local_files"] == []
    assert not Workflow.objects.exists()
    status, answer = osmo("post", f"{path}?priority=LOW&env_vars=A=b=c", sent)
    workflow = Workflow.objects.get()
    assert (status, answer["name"], workflow.priority) == (200, "digits-1", "LOW")
    assert answer["overview"].endswith(workflow.get_absolute_url())
    (variable,) = definitions_of(workflow)[0].document["worker"]["environmentVariables"]
    assert variable == {"name": "A", "value": "b=c"}
    status, answer = osmo("post", f"{path}?workflow_id=digits-1", {})
    assert (status, answer["name"]) == (200, "digits-2")
    status, answer = osmo("post", path, sent | {"set_variables": ["word"]})
    assert status == 400
    assert "NAME=VALUE" in str(answer)
    status, answer = osmo("post", f"{path}?env_vars=word", sent)
    assert status == 400
    assert "env_vars" in str(answer)


def test_the_list_is_as_osmo_has_it(osmo: Any, project: Project, member: User) -> None:
    for _ in range(3):
        submit(project, group("one"), by=member)
    Workflow.objects.filter(label="train-3").update(created_by=None)
    _, own = osmo("get", "/workflow?limit=20")
    assert [entry["name"] for entry in own["workflows"]] == ["train-1", "train-2"]
    _, every = osmo("get", "/workflow?all_users=true&limit=2&statuses=PENDING&pools=vision")
    assert [entry["name"] for entry in every["workflows"]] == ["train-2", "train-3"]
    assert every["more_entries"] is True
    _, newest = osmo("get", "/workflow?all_users=true&order=DESC&name=train-3")
    assert [entry["user"] for entry in newest["workflows"]] == [""]


def test_one_run_has_its_groups_and_tasks(osmo: Any, project: Project, member: User) -> None:
    workflow = submit(project, group("one"), group("two", "one"), by=member)
    put(workflow, "one", Phase.FAILED, Reason.RANK_FAILED, code=3, message="It failed.")
    advanced(workflow)
    _, answer = osmo("get", f"/workflow/{workflow.label}")
    assert (answer["status"], answer["submitted_by"]) == ("FAILED", "maria")
    one, two = answer["groups"]
    assert (one["downstream_groups"], two["status"]) == (["two"], "FAILED_UPSTREAM")
    assert one["tasks"][0] | {"exit_code": 3, "lead": True} == one["tasks"][0]
    assert osmo("get", f"/workflow/{workflow.label}?skip_groups=true")[1]["groups"] == []
    status, again = osmo("post", f"/pool/vision/workflow/{workflow.label}/restart")
    assert (status, again["name"]) == (200, "train-2")


def test_logs_events_and_spec_are_text(osmo: Any, project: Project, member: User) -> None:
    workflow = submit(project, group("one"), by=member)
    workload = workload_of(workflow, "one")
    append(Stream(workload.pk, 1, 0, 0), b"first\nsecond\n")
    Event.objects.filter(workload=workload).update(message="hello")
    Workflow.objects.update(original="{{ a }}", rendered="b")
    _, lines = osmo("get", f"/workflow/{workflow.label}/logs?last_n_lines=1&task_name=one")
    assert lines.endswith("[one] second\n")
    assert lines.count("\n") == 1
    assert "[one]" in osmo("get", f"/workflow/{workflow.label}/events")[1]
    assert osmo("get", f"/workflow/{workflow.label}/spec")[1] == "b\n"
    assert osmo("get", f"/workflow/{workflow.label}/spec?use_template=true")[1] == "{{ a }}\n"
    status, answer = osmo("post", f"/workflow/{workflow.label}/cancel?message=no&force=false")
    assert (status, answer["name"]) == (200, workflow.label)
    assert osmo("post", f"/workflow/{workflow.label}/cancel")[0] == 409
