"""REST: workflows in our own form."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.caller import Caller
from tests.factories import CredentialFactory, UserFactory
from tests.web import signed_in
from tests.workflows.graphs import advanced, definitions_of, group, put, submit, workload_of
from workflows.models import Workflow
from workloads.logs.store import Stream, append

FILE = """\
workflow:
  name: digits
  tasks:
  - name: train
    image: alpine
    command: [sh, /tmp/train.sh]
    environment: {EPOCHS: "1", API_TOKEN: hush}
    files:
    - {path: /tmp/train.sh, localpath: train.sh}
    kpis: [x]
  - name: report
    image: alpine
    command: [echo, "{{ word }}"]
    inputs: [{task: train}]
"""


@pytest.fixture
def call(member: User, project: Project) -> Caller:
    return Caller(member)


@pytest.fixture
def body(project: Project) -> dict[str, Any]:
    return {
        "projectId": str(project.pk),
        "file": FILE,
        "files": {"train.sh": "echo {{ 1 }}"},
        "variables": {"word": "done"},
        "environmentVariables": {"EPOCHS": "7"},
        "priority": "LOW",
    }


def test_a_file_is_submitted_and_read_back(call: Caller, body: dict[str, Any]) -> None:
    status, answer = call("POST", "/workflows?dryRun=true", body)
    assert (status, answer["label"], Workflow.objects.count()) == (202, "digits-1", 0)
    status, answer = call("POST", "/workflows", body)
    assert status == 202
    assert (answer["label"], answer["priority"]) == ("digits-1", "LOW")
    assert [(it["name"], it["upstream"]) for it in answer["groups"]] == [
        ("train", []),
        ("report", ["train"]),
    ]
    assert "echo, done" not in answer["original"]
    assert 'command: [echo, "done"]' in answer["rendered"]
    assert "hush" not in str(answer)
    assert any(row["label"] == "Ignored" for row in answer["report"])
    variables = definitions_of(Workflow.objects.get())[0].document["worker"]["environmentVariables"]
    assert {"name": "EPOCHS", "value": "7"} in variables
    assert call("GET", f"/workflows/{answer['label']}")[1] == answer
    assert call("GET", f"/workflows/{answer['id']}")[1] == answer
    status, listed = call("GET", "/workflows?filterBy=status==PENDING&search=dig")
    assert [row["label"] for row in listed["workflows"]] == ["digits-1"]
    assert call("GET", "/workflows?filterBy=status==COMPLETED")[1]["workflows"] == []


def test_every_mistake_is_told_at_its_line_or_its_group(
    call: Caller, project: Project, body: dict[str, Any]
) -> None:
    def fields(**changes: Any) -> list[str]:
        status, answer = call("POST", "/workflows", body | changes)
        assert status == 400
        return [issue["field"] for issue in answer["complianceIssues"]]

    assert fields(file=FILE.replace("image:", "imag:", 1)) == ["file.4", "file.5"]
    assert fields(files={}) == ["file.9"]
    assert fields(variables={})[0].startswith("file")
    assert fields(projectId="99999") == ["projectId"]
    secret = FILE.replace("kpis: [x]", "credentials: {hub: {TOKEN: token}}")
    assert fields(file=secret) == ["file.10"], "there is no such credential"
    CredentialFactory.create(home=project, name="hub")
    assert fields(file=secret.replace("TOKEN: token", "TOKEN: other")) == ["file.10"]
    assert call("POST", "/workflows?dryRun=true", body | {"file": secret})[0] == 202
    much = FILE.replace("workflow:\n", "workflow:\n  resources: {default: {gpu: 64}}\n")
    assert {field.partition(".")[0] for field in fields(file=much)} == {"train", "report"}
    assert not Workflow.objects.exists()


def test_logs_cancel_restart_and_delete(call: Caller, project: Project, member: User) -> None:
    workflow = submit(project, group("one"), group("two", "one"), by=member)
    append(Stream(workload_of(workflow, "one").pk, 1, 0, 0), b"hello\n")
    answer = call("GET", f"/workflows/{workflow.label}/logs?tail=5")[1]
    assert answer.content.decode().endswith("Z one hello\n")
    assert call("POST", f"/workflows/{workflow.label}/restart")[0] == 409
    assert call("DELETE", f"/workflows/{workflow.label}")[0] == 409
    status, canceled = call("POST", f"/workflows/{workflow.label}/cancel", {"message": "no"})
    assert (status, canceled["status"], canceled["message"]) == (200, "FAILED_CANCELED", "no")
    assert call("POST", f"/workflows/{workflow.label}/cancel")[0] == 409
    status, again = call("POST", f"/workflows/{workflow.label}/restart")
    assert (status, again["label"]) == (202, "train-2")
    assert call("DELETE", f"/workflows/{workflow.label}")[0] == 204
    assert call("GET", f"/workflows/{workflow.label}")[0] == 404


def test_a_restart_changes_what_it_is_given_and_keeps_the_rest(
    call: Caller, body: dict[str, Any]
) -> None:
    call("POST", "/workflows", body)
    first = advanced(Workflow.objects.get())
    put(first, "train-group", Phase.COMPLETED, code=0)
    put(first, "report-group", Phase.FAILED, Reason.RANK_FAILED, code=1)
    status, answer = call("POST", "/workflows/digits-1/restart", {"variables": {"word": "again"}})
    assert (status, answer["label"]) == (202, "digits-2")
    second = advanced(Workflow.objects.get(label="digits-2"))
    assert second.variables_json == {"word": "again"}
    put(second, "report-group", Phase.FAILED, Reason.RANK_FAILED, code=1)
    call("POST", "/workflows/digits-2/restart", {"taskSize": "cpu=1"})
    third = Workflow.objects.get(label="digits-3")
    (report,) = definitions_of(third)
    worker = report.document["worker"]
    assert (worker["command"], worker["compute"]["cpuCoreRequest"]) == ("echo again", 1)
    assert {it["name"]: it["value"] for it in worker["environmentVariables"]} == {"EPOCHS": "7"}
    assert (report.upstream, report.tasks[0].inputs[0].workflow) == ((), "digits-1")


def test_a_restart_with_other_groups_is_refused(call: Caller, body: dict[str, Any]) -> None:
    loop = FILE.replace("  tasks:", "{% for n in range(more) %}  #{% endfor %}\n  tasks:")
    named = loop.replace("name: report", "name: {{ word }}")
    call("POST", "/workflows", body | {"file": named, "variables": {"word": "done", "more": 0}})
    call("POST", "/workflows/digits-1/cancel")
    status, answer = call("POST", "/workflows/digits-1/restart", {"variables": {"word": "other"}})
    assert status == 409
    assert "other groups than digits-1: done-group, other-group." in answer["message"]


def test_only_lines_with_a_text_are_returned(call: Caller, project: Project, member: User) -> None:
    workflow = submit(project, group("one"), group("two"), by=member)
    append(Stream(workload_of(workflow, "one").pk, 1, 0, 0), b"Loss 3\nother\nloss 2\n")
    append(Stream(workload_of(workflow, "two").pk, 1, 0, 0), b"nothing\n")
    text = call("GET", f"/workflows/{workflow.label}/logs?query=LOSS")[1].content.decode()
    assert [line.split(" ", 1)[1] for line in text.splitlines()] == ["one Loss 3", "one loss 2"]
    assert call("GET", f"/workflows/{workflow.label}/logs?query=a%0Ab")[0] == 400
    page = signed_in(member).get(f"{workflow.get_absolute_url()}logs/?q=loss+2").content.decode()
    assert "loss 2" in page
    assert "other" not in page


def test_a_failed_group_says_why(call: Caller, project: Project, member: User) -> None:
    workflow = submit(project, group("one"), by=member)
    put(workflow, "one", Phase.FAILED, Reason.IMAGE_UNKNOWN, message="No such image.")
    answer = call("GET", f"/workflows/{workflow.label}")[1]
    assert answer["status"] == answer["groups"][0]["status"] == "FAILED_IMAGE_PULL"
    assert answer["groups"][0]["cause"] == "No such image."


def test_strangers_find_nothing(project: Project, member: User, body: dict[str, Any]) -> None:
    workflow = submit(project, group("one"), by=member)
    stranger = Caller(UserFactory.create())
    assert stranger("GET", f"/workflows/{workflow.label}")[0] == 404
    assert stranger("GET", "/workflows")[1]["workflows"] == []
    assert stranger("POST", "/workflows", body)[0] == 403
