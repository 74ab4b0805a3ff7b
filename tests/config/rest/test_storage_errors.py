"""While the disk is full: 507 for submissions and uploads, and a notice on each page."""

from pathlib import Path
from typing import Any

import pytest
import redis
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client

from accounts import tokens
from core import storage
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
FULL = "The disk is full"
SUBMISSION = "/api/v1/workloads/distributed"


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "full_folder", lambda reserve=None: Path("/data"))


def bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.access_token_for(UserFactory(administrator=True))}"}


def page_client() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(administrator=True))
    return client


def submission() -> dict[str, Any]:
    project = ProjectFactory()
    return {
        "name": "digits",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": {"numWorkers": 1, "image": "pytorch:2", "distributedFramework": "PyTorch"},
    }


@pytest.mark.usefixtures("full_disk")
def test_a_submission_is_refused(client: Client) -> None:
    answer = client.post(SUBMISSION, submission(), "application/json", headers=bearer())
    assert (answer.status_code, answer.json()["code"]) == (507, 507)
    assert answer.json()["message"] == FULL
    assert "Running trainings continue" in answer.json()["details"]


@pytest.mark.usefixtures("full_disk")
def test_an_upload_is_refused() -> None:
    files = {"file": SimpleUploadedFile("train.sbatch", b"#!/bin/bash\n")}
    answer = page_client().post("/workloads/new/batch-script/", files)
    assert answer.status_code == 507
    assert FULL in answer.content.decode()


@pytest.mark.usefixtures("full_disk")
def test_reading_deleting_and_signing_in_go_on(client: Client) -> None:
    assert client.post("/accounts/login/").status_code == 200
    assert client.get("/api/v1/workloads", headers=bearer()).status_code == 200
    assert client.delete("/api/v1/access-keys/999", headers=bearer()).status_code == 404


@pytest.mark.usefixtures("full_disk")
def test_every_page_says_so_and_administrators_what_to_do(client: Client) -> None:
    for user, advised in ((UserFactory(), False), (UserFactory(administrator=True), True)):
        page = signed_in(user).get("/clusters/").content.decode()
        assert page.count(FULL) == 1
        assert ("Free space on /data" in page) is advised
        assert "does not answer" not in page, "the cause hides what follows from it"
    assert FULL in client.get("/accounts/login/").content.decode()


def refuse(*_: object, **__: object) -> None:
    raise OperationalError("database is locked")


def test_a_page_without_its_database_answers_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projects.views.pages.form_page", refuse)
    answer = page_client().post("/projects/new/")
    assert answer.status_code == 503
    assert "The database is busy or out of reach" in answer.content.decode()
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.usefixtures("full_disk")
def test_a_page_that_cannot_save_for_lack_of_space_answers_507(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("projects.views.pages.form_page", refuse)
    answer = page_client().post("/projects/new/")
    assert (answer.status_code, FULL in answer.content.decode()) == (507, True)


def test_a_call_without_its_database_answers_503(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer()
    monkeypatch.setattr("accounts.tokens.make_key", refuse)
    body = {"name": "mine"}
    answer = client.post("/api/v1/access-keys", body, "application/json", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, 503)
    assert int(answer.headers["Retry-After"]) > 0


def test_health_reports_the_full_disk_of_the_worker(client: Client, valkey: redis.Redis) -> None:
    valkey.set("trainyard:alive:worker", "/data/logs")
    valkey.set("trainyard:alive:beat", "ok")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert (answer.json()["checks"]["storage"], answer.json()["checks"]["worker"]) == ("full", "ok")
    page = signed_in(UserFactory(administrator=True)).get("/clusters/").content.decode()
    assert "Free space on /data/logs" in page
