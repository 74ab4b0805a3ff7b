"""The page that submits a workflow file with its scripts."""

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from projects.models import Project
from tests.factories import UserFactory
from tests.web import signed_in
from tests.workflows.graphs import definitions_of
from workflows.models import Priority, Workflow
from workflows.views.submission import LONGEST

ADDRESS = "/workflows/new/"
FILE = """\
workflow:
  name: digits
  tasks:
  - name: prepare
    image: alpine
    command: [sh, /tmp/prepare.sh]
    files:
    - {path: /tmp/prepare.sh, localpath: scripts/prepare.sh}
  - name: train
    image: alpine
    command: [sh, -c, "echo {{ epochs }}"]
    inputs:
    - task: prepare
default-values:
  epochs: 3
"""
SCRIPT = "echo '{{ this is no template }}'\n"


@pytest.fixture
def browser(project: Project, member: User) -> Client:
    return signed_in(member)


def files() -> list[SimpleUploadedFile]:
    return [
        SimpleUploadedFile("digits.yaml", FILE.encode()),
        SimpleUploadedFile("prepare.sh", SCRIPT.encode()),
    ]


def test_tasks_can_have_another_size(browser: Client) -> None:
    sent = {"files": files(), "size": "cpu=0.25, memory=2G", "action": "submit"}
    assert browser.post(ADDRESS, sent).status_code == 302
    workflow = Workflow.objects.get()
    for group in definitions_of(workflow):
        compute = group.document["worker"]["compute"]
        assert (compute["cpuCoreRequest"], compute["cpuMemoryRequest"]) == (0.25, "2G")
    assert "Tasks have the size cpu=0.25 memory=2G" in str(workflow.report_json)
    wrong = browser.post(ADDRESS, {"files": files(), "size": "gpu=1"})
    assert wrong.status_code == 422
    assert "gpu=1&#x27; is not a size" in wrong.content.decode()


def test_a_dropped_file_with_its_script_is_previewed_and_then_submitted(browser: Client) -> None:
    preview = browser.post(ADDRESS, {"files": files(), "variables": "epochs=7"})
    page = preview.content.decode()
    assert preview.status_code == 200
    assert "echo 7" in page
    assert page.count("<rect") == 2
    assert not Workflow.objects.exists()
    posted = preview.context["posted"]
    sent = {
        "workflow": posted.text.replace("\n", "\r\n"),
        "path": list(posted.files),
        "content": list(posted.files.values()),
        "variables": posted.variables,
        "priority": "HIGH",
        "action": "submit",
    }
    answer = browser.post(ADDRESS, sent)
    workflow = Workflow.objects.get()
    assert answer["Location"] == workflow.get_absolute_url()
    assert (workflow.label, workflow.priority) == ("digits-1", Priority.HIGH)
    assert workflow.original == FILE
    assert workflow.files_json == {"scripts/prepare.sh": SCRIPT}
    assert workflow.variables_json == {"epochs": 7}
    assert [group.definition.upstream for group in workflow.groups.all()][1]


def test_mistakes_are_told_and_nothing_is_submitted(browser: Client) -> None:
    big = SimpleUploadedFile("big.txt", b"a" * (LONGEST + 1))
    mistakes: list[tuple[dict[str, object], str]] = [
        ({"workflow": ""}, "Paste a workflow file"),
        ({"workflow": FILE.replace("image: alpine", "imag: alpine", 1)}, "imag"),
        ({"path": "", "content": ""}, "scripts/prepare.sh is missing"),
        ({"variables": "7"}, "NAME=VALUE"),
        ({"project": "99999"}, "Choose a project"),
        ({"files": [SimpleUploadedFile("model.pt", b"\xff\xfe")]}, "not text"),
        ({"files": [big]}, "larger than 1 MiB"),
    ]
    sent = {"workflow": FILE, "path": "prepare.sh", "content": SCRIPT, "action": "submit"}
    for change, words in mistakes:
        answer = browser.post(ADDRESS, sent | change)
        assert answer.status_code == 422, words
        assert words in answer.content.decode()
    assert not Workflow.objects.exists()


def test_what_a_cluster_refuses_is_told_with_its_group(browser: Client, project: Project) -> None:
    asks_too_much = FILE.replace("workflow:\n", "workflow:\n  resources: {default: {gpu: 64}}\n")
    sent = {"workflow": asks_too_much, "path": "prepare.sh", "content": SCRIPT}
    answer = browser.post(ADDRESS, sent | {"action": "submit"})
    assert answer.status_code == 422
    assert "train" in str(answer.context["faults"])
    assert not Workflow.objects.exists()


def test_people_who_may_submit_nowhere_are_refused(db: None) -> None:
    assert signed_in(UserFactory.create()).get(ADDRESS).status_code == 403


def test_a_form_that_is_sent_twice_submits_once(browser: Client) -> None:
    form = {"form": str(uuid4()), "action": "submit"}
    answers = [browser.post(ADDRESS, form | {"files": files()}) for _ in range(2)]
    workflow = Workflow.objects.get()
    assert [answer.headers["Location"] for answer in answers] == [workflow.get_absolute_url()] * 2
    browser.post(ADDRESS, {"form": str(uuid4()), "action": "submit", "files": files()})
    assert Workflow.objects.count() == 2
