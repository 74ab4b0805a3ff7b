"""Credentials of registries are applied to image pulls, and nobody reads them."""

import base64
import json
from typing import Any

import pytest

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.models import Credential
from clusters.models import Connection
from core.deletion import InUse
from engines.base import EngineRefused, Manifest
from engines.kubernetes.labels import labels
from engines.kubernetes.manifests.job import manifests, mask_secrets
from engines.kubernetes.names import pull_secret_name
from projects.models import Project
from spec.draft import WorkloadDraft
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from tests.workloads.nowhere import KUBECONFIG
from tests.workloads.wizard.browser import Wizard
from workloads.launch import launch_with_secrets, launch_without_secrets
from workloads.models import Workload
from workloads.plan import plan
from workloads.services import submit
from workloads.wizard.as_yaml import render_manifest
from workloads.wizard.sections.container.runtime import RUNTIME

pytestmark = pytest.mark.django_db
HIDDEN = "tr41n-l1ke-nobody-reads"
IMAGE = "registry.example.com/team/train:1"


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


def registry(project: Project, **more: Any) -> Credential:
    spec = {"kind": "dockerRegistry", "server": "https://registry.example.com"}
    entered = {"username": "ada", "password": HIDDEN}
    given = {"name": "ours", "spec_json": spec, "entered": entered} | more
    return CredentialFactory.create(home=project, **given)


def draft(project: Project, **values: Any) -> WorkloadDraft:
    place = {"project": project.pk, "cluster": project.cluster_id}
    worker = {"values": {"image": IMAGE, **values}}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def made(workload: Workload) -> tuple[list[Manifest], list[Any]]:
    """Secrets for pulls, and what the pods name of them."""
    rendered = manifests(launch_with_secrets(workload), prefix="team-")
    secrets = [it for it in rendered if it.get("type") == "kubernetes.io/dockerconfigjson"]
    pods = [it["template"]["spec"] for it in rendered[-1]["spec"]["pytorchReplicaSpecs"].values()]
    return secrets, [pod.get("imagePullSecrets") for pod in pods]


def test_all_pods_refer_to_a_secret_with_the_registry_password(
    user: User, project: Project
) -> None:
    registry(project)
    workload = submit(draft(project, imagePullSecrets=[{"name": "theirs"}]), by=user)
    (secret,), pods = made(workload)
    assert secret["metadata"]["labels"] == labels(launch_with_secrets(workload))
    content = json.loads(base64.b64decode(secret["data"][".dockerconfigjson"]))
    auth = base64.b64encode(f"ada:{HIDDEN}".encode()).decode()
    login = {"username": "ada", "password": HIDDEN, "auth": auth}
    assert content == {"auths": {"registry.example.com": login}}
    name = pull_secret_name(launch_with_secrets(workload))
    assert pods == [[{"name": "theirs"}, {"name": name}]] * len(pods)


def test_the_nearest_of_a_registry_is_applied_and_none_of_another(
    user: User, project: Project
) -> None:
    registry(project)
    registry(project, name="wide", in_account=True, entered={"username": "b", "password": "far"})
    other = {"kind": "dockerRegistry", "server": "nvcr.io"}
    registry(project, name="other", spec_json=other)
    registry(ProjectFactory.create(cluster=project.cluster), name="theirs")
    workload = submit(draft(project), by=user)
    (applied,) = launch_with_secrets(workload).registries
    assert (applied.host, applied.username) == ("registry.example.com", "ada")
    Credential.objects.filter(name="ours").delete()
    (applied,) = launch_with_secrets(workload).registries
    assert applied.username == "b"


def test_an_api_key_of_ngc_is_the_password_of_nvidias_registry(
    user: User, project: Project
) -> None:
    key = {"spec_json": {"kind": "ngcApiKey"}, "entered": {"NGC_API_KEY": HIDDEN}}
    registry(project, name="ngc", **key)
    assert launch_with_secrets(submit(draft(project), by=user)).registries == ()
    ours = draft(project, image="nvcr.io/nvidia/pytorch:25.01-py3")
    ours.name = "of-ngc"
    workload = submit(ours, by=user)
    (applied,) = launch_with_secrets(workload).registries
    assert (applied.host, applied.username, applied.password) == ("nvcr.io", "$oauthtoken", HIDDEN)
    (secret,), _ = made(workload)
    assert "nvcr.io" in base64.b64decode(secret["data"][".dockerconfigjson"]).decode()


def test_a_registry_is_named_next_to_those_that_are_applied(user: User, project: Project) -> None:
    registry(project)
    spec = {"kind": "dockerRegistry", "server": "nvcr.io"}
    other = registry(project, name="mirror", spec_json=spec)
    named = [{"name": "mirror", "credential": True}]
    workload = submit(draft(project, imagePullSecrets=named), by=user)
    (kept,) = workload.spec.worker.image_pull_secrets
    assert (kept.name, kept.asset_id) == ("mirror", other.pk)
    hosts = {it.host for it in launch_with_secrets(workload).registries}
    assert hosts == {"nvcr.io", "registry.example.com"}
    secrets, pods = made(workload)
    assert pods == [[{"name": secrets[0]["metadata"]["name"]}]] * len(pods)
    with pytest.raises(InUse, match="workload train"):
        services.delete(CREDENTIAL, other, by=user)


def test_a_pull_credential_that_cannot_be_used_is_told_at_its_place(
    user: User, project: Project
) -> None:
    CredentialFactory.create(home=project, name="hub", entered={"token": "t"})
    for name, words in (("hub", "is not for image pulls"), ("gone", "cannot be used in")):
        named = [{"name": name, "credential": True}]
        (problem,) = plan(draft(project, imagePullSecrets=named), by=user).problems
        assert problem.path == ("worker", "imagePullSecrets", 0, "name")
        assert words in problem.message


def test_the_wizard_offers_registries_alone_beside_the_names_of_secrets(
    user: User, project: Project
) -> None:
    registry(project)
    CredentialFactory.create(home=project, name="hub", entered={"token": "t"})
    wizard = Wizard(user).ready()
    wizard.open(wizard.at(2)).press("add:worker-imagePullCredentials")
    label = f"ours (Docker registry, Project {project.name})"
    assert f'<option value="ours">{label}</option>' in wizard.page
    assert '<option value="hub">' not in wizard.page
    wizard.press("save", **{"worker-imagePullCredentials-0-name": "ours"})
    wizard.press("add:worker-imagePullSecrets")
    wizard.press("save", **{"worker-imagePullSecrets-0-name": "theirs"})
    given = wizard.draft.content.worker.values["imagePullSecrets"]
    assert given == [{"credential": True, "name": "ours"}, {"name": "theirs"}]
    assert wizard.plan().spec


def test_an_existing_secret_is_named_as_it_is(user: User, project: Project) -> None:
    spec = {"kind": "dockerRegistry", "server": "registry.example.com", "existingSecret": "kept"}
    registry(project, spec_json=spec, entered={})
    secrets, pods = made(submit(draft(project), by=user))
    assert secrets == []
    assert pods == [[{"name": "kept"}]] * len(pods)


def test_a_start_needs_the_present_password_of_a_registry(user: User, project: Project) -> None:
    credential = registry(project)
    workload = submit(draft(project), by=user)
    credential.entered = {"password": "newer"}
    credential.save()
    assert launch_with_secrets(workload).registries[0].password == "newer"
    credential.secret_values.filter(key="password").delete()
    with pytest.raises(EngineRefused, match="ours no longer has a password"):
        launch_with_secrets(workload)


def test_no_page_manifest_or_event_shows_the_password(user: User, project: Project) -> None:
    registry(project)
    Connection.objects.create(cluster=project.cluster, secret_json=KUBECONFIG)
    workload = submit(draft(project), by=user)
    launched = launch_with_secrets(workload)
    client = signed_in(user)
    assert launched.registries[0].password == HIDDEN
    shown = [
        *mask_secrets(manifests(launched, prefix="t-")),
        launched,
        launch_without_secrets(workload),
    ]
    preview = render_manifest(plan(draft(project).model_copy(update={"name": "b"}), by=user), user)
    texts = [str(shown), preview, str(workload.__dict__), str(list(workload.events.values()))]
    for page in (f"/workloads/{workload.pk}/", f"/workloads/{workload.pk}/spec/", "/workloads/"):
        texts.append(client.get(page, follow=True).content.decode())
    encoded = base64.b64encode(f"ada:{HIDDEN}".encode()).decode()
    assert not [text for text in texts if HIDDEN in text or encoded in text]
    assert "kubernetes.io/dockerconfigjson" in preview
    assert "kubernetes.io/dockerconfigjson" in texts[-2], "the page shows its manifests"


def test_the_review_names_it_and_this_machine_uses_none(user: User, project: Project) -> None:
    registry(project)
    line = ("Image pull credentials", "ours", "")
    assert line in list(RUNTIME.review(plan(draft(project), by=user), "worker"))
    workload = submit(draft(project), by=user)
    project.cluster.kind = "local"
    project.cluster.save()
    assert launch_with_secrets(Workload.objects.get(pk=workload.pk)).registries == ()


def test_a_variable_takes_nothing_from_it(user: User, project: Project) -> None:
    registry(project)
    taken = {"name": "A", "credential": {"name": "ours", "key": "password"}}
    planned = plan(draft(project, environmentVariables=[taken]), by=user)
    path = ("worker", "environmentVariables", 0, "credential")
    assert [it.message for it in planned.problems if it.path == path] == [
        "ours is only for image pulls; choose another"
    ]
    wizard = Wizard(user).ready()
    variables = [{"name": "A", "credential": {"name": "", "key": ""}}]
    saved = wizard.draft
    saved.document["worker"]["values"] = {"environmentVariables": variables}
    saved.save()
    page = wizard.open(wizard.at(2)).page
    assert "<option disabled>ours (only for image pulls)</option>" in page


def test_the_registry_that_is_applied_names_the_workload_that_uses_it(
    user: User, project: Project
) -> None:
    ours = registry(project)
    other = registry(project, name="other", spec_json={"kind": "dockerRegistry", "server": "r.io"})
    submit(draft(project), by=user)
    web = signed_in(user)
    assert "Used by 1 workload" in web.get("/credentials/").content.decode()
    with pytest.raises(InUse, match="workload train"):
        services.delete(CREDENTIAL, ours, by=user)
    services.delete(CREDENTIAL, other, by=user)
