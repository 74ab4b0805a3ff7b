"""Repositories and buckets of one workload: which credential opens them is chosen."""

import re
from typing import Any

import pytest

from projects.models import Project
from tests.factories import CredentialFactory
from tests.workloads.wizard.browser import Wizard
from workloads.wizard.choices import credentials

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
GIT = "worker-storage-git"
S3 = "worker-storage-s3"
SECRET = "worker-storage-secretVolume"


def offered(page: str, name: str) -> list[str]:
    """The words of each option of a select."""
    select = re.search(rf'<select[^>]* name="{name}".*?</select>', page, re.DOTALL)
    assert select, f"{name} is not asked by choice"
    return re.findall(r"<option[^>]*>([^<]*)<", select[0])


def storage(wizard: Wizard) -> dict[str, Any]:
    its: dict[str, Any] = wizard.draft.content.worker.values["storage"]
    return its


@pytest.fixture
def opened(wizard: Wizard, project: Project) -> Wizard:
    """With a credential of each type, and a repository that is still to be described."""
    for kind in ("password", "sshKey", "accessKey", "genericSecret"):
        keys = {"keys": ["a"]} if kind == "genericSecret" else {}
        CredentialFactory.create(home=project, name=kind.lower(), spec_json={"kind": kind, **keys})
    return wizard.ready().open(wizard.at(2)).press(f"add:{GIT}")


def test_each_offers_the_types_that_open_it_and_stores_the_name(opened: Wizard) -> None:
    of = opened.draft.content.project
    assert of
    names = offered(opened.page, f"{GIT}-0-credential")
    assert [it.partition(" (")[0] for it in names] == ["None", "password", "sshkey"]
    assert names[1] == "password (Username &amp; password, Project team-a)"
    typed = {f"{GIT}-0-repository": "https://example.com/x.git", f"{GIT}-0-path": "/x"}
    opened.press(f"add:{S3}", **typed, **{f"{GIT}-0-credential": "password"})
    assert storage(opened)["git"][0]["credential"] == {"name": "password"}
    buckets = offered(opened.page, f"{S3}-0-credential")
    assert [it.partition(" (")[0] for it in buckets] == ["None", "accesskey"]
    opened.press(f"remove:{S3}:0")
    (git,) = opened.plan().require_ready().spec.worker.storage.git
    assert git.credential
    assert git.credential.asset_id
    opened.press("save", **{f"{GIT}-0-credential": ""})
    assert "credential" not in storage(opened)["git"][0]


@pytest.mark.parametrize("most", [2, 100])
def test_a_secret_volume_offers_generic_secrets_however_many_there_are(
    opened: Wizard, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "MOST", most)
    opened.press(f"add:{SECRET}", **{f"{GIT}-0-repository": "https://example.com/x.git"})
    names = [it.partition(" (")[0] for it in offered(opened.page, f"{SECRET}-0-credential")]
    assert names == ["None", "accesskey", "genericsecret", "password", "sshkey"]
    opened.press("save", **{f"{SECRET}-0-credential": "genericsecret"}).open(opened.at(2))
    assert "genericsecret (Generic secret" in opened.page
    assert "genericsecret (cannot be used here)" not in opened.page


def test_the_id_stays_as_long_as_the_choice(opened: Wizard, project: Project) -> None:
    row = CredentialFactory.create(
        home=project, in_account=True, name="password", spec_json={"kind": "password"}
    )
    named = {"assetId": str(row.pk), "name": "password"}
    git = {"repository": "https://example.com/x.git", "path": "/x", "credential": named}
    draft = opened.draft
    draft.document["worker"]["values"] = {"storage": {"git": [git]}}
    draft.save()
    opened.open(opened.at(2)).press("save", **{f"{GIT}-0-path": "/y"})
    assert storage(opened)["git"][0]["credential"] == named
    opened.press("save", **{f"{GIT}-0-credential": "sshkey"})
    assert storage(opened)["git"][0]["credential"] == {"name": "sshkey"}


def test_a_wrong_type_is_told_at_the_field(opened: Wizard) -> None:
    typed = {f"{GIT}-0-repository": "https://example.com/x.git", f"{GIT}-0-path": "/x"}
    opened.press("continue", **typed, **{f"{GIT}-0-credential": "sshkey"})
    notes = re.search(rf'id="{GIT}-0-credential-notes".*?</div>', opened.page, re.DOTALL)
    assert notes
    assert "a repository by https takes the type Username &amp; password" in notes[0]
