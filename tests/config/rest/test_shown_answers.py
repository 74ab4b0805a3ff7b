"""What docs/rest.md shows of answers, streams and messages has the fields that are really sent."""

import json
import re
from typing import Any
from uuid import uuid4

import pytest

from config.run.install import ROOT
from notifications.events import event_body
from projects.models import Project
from tests.caller import Body, Caller, call, project, researcher, seed_body
from tests.factories import WorkloadFactory
from workloads.history import events
from workloads.history.changes import WorkloadChange
from workloads.models import Event

__all__ = ["call", "project", "researcher", "seed_body"]

PAGE = (ROOT / "docs" / "rest.md").read_text()


def block(start: str) -> str:
    """The block of code that has this in it."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (text,) = (str(it) for it in blocks if start in it)
    return text


def names(text: str) -> set[str]:
    return set(re.findall(r'"(\w+)":', text))


def names_of(value: Any) -> set[str]:
    return names(json.dumps(value))


@pytest.mark.usefixtures("sent")
def test_a_webhook_gets_the_message_that_the_page_shows(db: None) -> None:
    workload = WorkloadFactory(name="mnist", running=True)
    events.record_phase(workload, message="It was asked to.", verb="stop")
    sent = event_body(Event.objects.latest("pk"))
    assert names(block("webhook-signature:")) == names_of(json.loads(sent))


def test_a_watcher_is_told_what_the_page_shows() -> None:
    change = WorkloadChange(uuid4(), "mnist", 1, "Running", deleted_at=None, version=8124)
    assert names(block("event: workload")) == names_of(change.as_json())


def test_a_dry_run_answers_what_the_page_shows(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", "/workloads/distributed?dryRun=true", seed_body())
    assert status == 200
    shown = block('{"dryRun": true')
    of_lists = {"reason", "change", "label"}  # of nodes that are too small, and of repairs
    assert names(shown) - of_lists <= names_of(answer)
    told = set(
        re.findall(r"`(\w+)`", PAGE[PAGE.index("`complianceIssues` are the reasons") :][:2500])
    )
    assert answer.keys() - names(shown) <= told


def test_an_error_is_the_one_that_the_page_shows(call: Caller, project: Project) -> None:
    body = {"name": "a", "projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    spec = {"image": "a:1", "distributedFramework": "PyTorch", "numWorkers": 0}
    _, answer = call("POST", "/workloads/distributed", body | {"spec": spec})
    (said,) = re.findall(r"Every error is `\{([\w, ]+)\}`", PAGE)
    assert set(said.split(", ")) == answer.keys()
    (shown,) = re.findall(r'`(\{"field": "spec.numWorkers".*?\})`', PAGE)
    assert json.loads(shown) in answer["complianceIssues"]
