"""REST: datasets, their versions and files."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import tokens
from assets.data_source.datasets.model import DatasetVersion
from projects.models import Project
from tests.caller import Caller

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _datasets_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATASETS = tmp_path / "datasets"


@pytest.fixture
def version(call: Caller, project: Project) -> str:
    """The address of a version that was begun."""
    body = {"name": "mnist", "projectId": str(project.pk)}
    status, dataset = call("POST", "/datasets", body)
    assert status == 201, dataset
    status, begun = call("POST", f"/datasets/{dataset['id']}/versions")
    assert (status, begun["status"]) == (201, "PENDING")
    return f"/datasets/{dataset['id']}/versions/{begun['id']}"


def send(call: Caller, version: str, query: str, data: bytes) -> Any:
    return Client().generic(
        "POST",
        f"/api/v1{version}/pieces?{query}",
        data=data,
        content_type="application/octet-stream",
        headers={"Authorization": f"Bearer {tokens.access_token_for(call.user)}"},
    )


def test_a_version_is_filled_finished_listed_and_read(call: Caller, version: str) -> None:
    assert send(call, version, "path=a/one.bin", b"0123").status_code == 204
    assert send(call, version, "path=a/one.bin&offset=4", b"4567").status_code == 204
    assert send(call, version, "path=empty", b"").status_code == 204
    status, finished = call("POST", f"{version}/finish")
    assert (status, finished["number"], finished["files"]) == (200, 1, 2)
    latest = version.rpartition("/")[0] + "/latest"
    files = call("GET", f"{latest}/files")[1]["files"]
    assert [(file["path"], file["size"]) for file in files] == [("a/one.bin", 8), ("empty", 0)]
    status, content = call("GET", f"{latest}/content?path=a/one.bin&offset=2")
    assert (content.content, content["X-Next-Offset"]) == (b"234567", "8")
    listed = call("GET", "/datasets?name=mnist")[1]["datasets"]
    assert [(it["latestVersion"], it["size"]) for it in listed] == [(1, 8)]
    assert send(call, version, "path=b", b"late").status_code == 409


@pytest.mark.parametrize(
    "query", ["path=../a", "path=/a", "path=a//b", "path=a&offset=9", "path=dir"]
)
def test_a_piece_that_has_no_place_is_refused(call: Caller, version: str, query: str) -> None:
    assert send(call, version, "path=dir/file", b"x").status_code == 204
    answer = send(call, version, query, b"text")
    assert answer.status_code == 400
    assert answer.json()["complianceIssues"][0]["field"] == "path"


def test_a_dry_run_sends_no_piece(call: Caller, version: str) -> None:
    assert send(call, version, "path=a&dryRun=true", b"text").status_code == 204
    assert call("POST", f"{version}/finish")[0] == 400


def test_strangers_find_no_dataset(stranger: Caller, version: str) -> None:
    assert stranger("GET", "/datasets")[1]["datasets"] == []
    assert stranger("GET", version.rpartition("/versions")[0])[0] == 404
    assert stranger("POST", f"{version}/finish")[0] == 404
    assert stranger("DELETE", version)[0] == 404


def test_a_version_is_deleted_with_its_files(
    call: Caller, version: str, settings: Settings
) -> None:
    send(call, version, "path=a", b"text")
    call("POST", f"{version}/finish")
    assert call("DELETE", version)[0] == 204
    assert not DatasetVersion.objects.exists()
    assert list(settings.DATASETS.iterdir()) == []
