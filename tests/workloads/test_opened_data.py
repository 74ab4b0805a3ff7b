"""Repositories and buckets of a workload that a credential opens: which one, and its value late."""

from typing import Any

import pytest

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.models import Credential
from clusters.models import Connection
from core.deletion import InUse
from engines.base import EngineRefused
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.problems.errors import SpecError
from tests.factories import CredentialFactory, DataSourceFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from tests.workloads.nowhere import KUBECONFIG
from workloads.launch import launch_with_secrets, launch_without_secrets, render_manifests_as_yaml
from workloads.plan import plan
from workloads.services import submit

pytestmark = pytest.mark.django_db
HIDDEN = "tr41n-l1ke-nobody-reads"
HTTPS = "https://example.com/train.git"
SSH = "git@example.com:train.git"
PASSWORD = {"spec_json": {"kind": "password"}, "entered": {"User": "ada", "Password": HIDDEN}}
AT = ("worker", "storage", "git", 0, "credential")


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


@pytest.fixture
def forge(project: Project) -> Credential:
    return CredentialFactory.create(home=project, name="forge", **PASSWORD)


def draft(project: Project, **values: Any) -> WorkloadDraft:
    worker = {"values": {"image": "train:1", **values}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def git(repository: str = HTTPS, credential: Any = None, **more: Any) -> dict[str, Any]:
    named = {"credential": credential or {"name": "forge"}}
    return {"git": [{"repository": repository, "path": "/code", **named, **more}]}


def refusals(content: WorkloadDraft, by: User) -> dict[tuple[str | int, ...], str]:
    return {it.path: it.message for it in plan(content, by=by).problems}


def test_a_workload_refers_to_a_credential_and_gets_its_present_value(
    user: User, project: Project, forge: Credential
) -> None:
    named = {"assetId": str(forge.pk), "name": "forge"}
    item = {"repository": HTTPS, "path": "/code", "credential": named}
    source = DataSourceFactory.create(home=project, spec_json={"kind": "git", "git": item})
    workload = submit(draft(project, dataSources=[{"id": str(source.pk)}]), by=user)
    assert workload.spec_json["worker"]["storage"]["git"][0]["credential"] == named
    links = {(it.kind, it.asset_id) for it in workload.assets.all()}
    assert links == {("data-source", source.pk), ("credential", forge.pk)}
    assert launch_with_secrets(workload).secrets == {forge.pk: {"User": "ada", "Password": HIDDEN}}
    forge.entered = {"Password": "newer"}
    forge.save()
    assert launch_with_secrets(workload).secrets[forge.pk]["Password"] == "newer"
    with pytest.raises(InUse, match="workload train"):
        services.delete(CREDENTIAL, forge, by=user)
    forge.secret_values.filter(key="Password").delete()
    with pytest.raises(EngineRefused, match="forge no longer has a value for Password"):
        launch_with_secrets(workload)


def test_the_nearest_of_a_name_is_meant(user: User, project: Project, forge: Credential) -> None:
    far = {**PASSWORD, "entered": {"User": "x", "Password": "far"}}
    CredentialFactory.create(home=project, in_account=True, name="forge", **far)
    workload = submit(draft(project, storage=git()), by=user)
    assert set(launch_with_secrets(workload).secrets) == {forge.pk}


def test_a_credential_that_cannot_be_used_is_told_at_the_item(
    user: User, project: Project, forge: Credential
) -> None:
    CredentialFactory.create(name="theirs", **PASSWORD)
    for named, words in (
        ({"name": "theirs"}, f"no credential 'theirs' can be used in {project.name}"),
        ({"name": "gone"}, "no credential 'gone'"),
    ):
        assert words in refusals(draft(project, storage=git(credential=named)), user)[AT]
    wrong = refusals(draft(project, storage=git(SSH)), user)[AT]
    assert "the credential forge is of the type Username & password" in wrong
    assert "a repository by ssh takes the type SSH key" in wrong
    both = draft(project, storage=git(secretRef={"name": "mine"}))
    assert "not both" in refusals(both, user)[AT]
    with pytest.raises(SpecError, match="name: is required"):
        submit(draft(project, storage=git(credential={"assetId": None, "name": ""})), by=user)


@pytest.mark.parametrize(
    ("kind", "storage", "expected"),
    [
        (
            "password",
            git(),
            {
                "name": "kept",
                "authenticationMethod": "password",
                "secretKeyOfUser": "User",
                "secretKeyOfPassword": "Password",
            },
        ),
        (
            "sshKey",
            git(SSH),
            {
                "name": "kept",
                "authenticationMethod": "ssh-key",
                "secretKeyOfUser": "username",
                "secretKeyOfPassword": "password",
            },
        ),
    ],
)
def test_an_existing_secret_is_read_by_the_cluster(
    user: User, project: Project, kind: str, storage: dict[str, Any], expected: dict[str, str]
) -> None:
    spec = {"kind": kind, "existingSecret": "kept"}
    CredentialFactory.create(home=project, name="forge", spec_json=spec)
    workload = submit(draft(project, storage=storage), by=user)
    (item,) = workload.spec_json["worker"]["storage"]["git"]
    assert (item["secretRef"], item["credential"]) == (expected, None)
    assert workload.assets.count() == 1
    assert launch_with_secrets(workload).secrets == {}


def test_an_existing_secret_with_an_access_key_is_read_by_the_cluster(
    user: User, project: Project
) -> None:
    spec = {"kind": "accessKey", "existingSecret": "kept"}
    CredentialFactory.create(home=project, name="keys", spec_json=spec)
    s3 = {"s3": [{"bucket": "images", "path": "/images", "credential": {"name": "keys"}}]}
    (item,) = submit(draft(project, storage=s3), by=user).spec.worker.storage.s3
    assert (item.access_key_secret, item.credential) == ("kept", None)


def test_no_page_preview_or_row_shows_the_value(
    user: User, project: Project, forge: Credential
) -> None:
    Connection.objects.create(cluster=project.cluster, secret_json=KUBECONFIG)
    workload = submit(draft(project, storage=git()), by=user)
    assert HIDDEN in str(launch_with_secrets(workload).secrets)
    assert HIDDEN not in repr(launch_with_secrets(workload))
    shown = render_manifests_as_yaml(workload.cluster, launch_without_secrets(workload))
    assert "worker.git-0.Password: '***'" in shown
    web = signed_in(user)
    pages = [f"/workloads/{workload.pk}/", f"/workloads/{workload.pk}/spec/", "/workloads/"]
    page = "".join(web.get(it, follow=True).content.decode() for it in pages)
    assert "forge" in page
    rows = [str(workload.__dict__), str(list(workload.events.values()))]
    assert HIDDEN not in "".join((page, shown, *rows))


def test_the_present_known_hosts_of_a_key_travel_with_it(user: User, project: Project) -> None:
    hosts = "example.com ssh-ed25519 AAAA"
    spec = {"kind": "sshKey", "knownHosts": hosts}
    key = CredentialFactory.create(home=project, name="key", spec_json=spec, entered={"ssh": "k"})
    named = git(SSH, {"name": "key"})
    workload = submit(draft(project, storage=named), by=user)
    assert launch_with_secrets(workload).secrets == {key.pk: {"ssh": "k", "known_hosts": hosts}}


def test_a_credential_as_files_says_which_keys_become_them(user: User, project: Project) -> None:
    values = {"token": HIDDEN, "url": "https://x.org"}
    spec = {"kind": "genericSecret", "keys": ["token", "url"]}
    hub = CredentialFactory.create(home=project, name="hub", spec_json=spec, entered=values)
    kept = CredentialFactory.create(
        home=project, name="kept", spec_json={"kind": "genericSecret", "existingSecret": "mine"}
    )
    files = {"credential": {"name": "hub"}, "mountPath": "/keys"}
    one = {"credential": {"name": "hub", "keys": ["url"]}, "mountPath": "/one"}
    there = {"credential": {"name": "kept"}, "mountPath": "/mine"}
    workload = submit(draft(project, storage={"secretVolume": [files, one, there]}), by=user)
    by_path = {it.mount_path: it for it in workload.spec.worker.storage.secret_volume}
    found = {
        path: (it.secret, it.credential and it.credential.keys) for path, it in by_path.items()
    }
    named = {"/keys": (None, ("token", "url")), "/one": (None, ("url",)), "/mine": ("mine", None)}
    assert found == named
    assert launch_with_secrets(workload).secrets == {hub.pk: values}
    assert {it.asset_id for it in workload.assets.all()} == {hub.pk, kept.pk}
    assert HIDDEN not in str(workload.spec_json)
    wrong = {"credential": {"name": "hub", "keys": ["pin"]}, "mountPath": "/keys"}
    at = ("worker", "storage", "secretVolume", 0, "credential")
    said = refusals(draft(project, storage={"secretVolume": [wrong]}), user)
    assert "hub has no key 'pin'; it has token, url" in said[*at, "keys"]
    CredentialFactory.create(
        home=project, name="images", spec_json={"kind": "dockerRegistry", "server": "r.example.com"}
    )
    pulls = {"credential": {"name": "images"}, "mountPath": "/keys"}
    said = refusals(draft(project, storage={"secretVolume": [pulls]}), user)
    assert "only for image pulls" in said[at]
