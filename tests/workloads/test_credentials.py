"""What a workload takes from credentials: one by name from the nearest place, its value late."""

import base64
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.environment import variables
from assets.models import Credential
from core.database.fields import encrypt
from core.deletion import InUse
from engines.base import EngineRefused
from engines.kubernetes.labels import labels
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.names import secret_name
from projects.models import Project
from spec.draft import WorkloadDraft
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.launch import launch_with_secrets, launch_without_secrets, render_manifests_as_yaml
from workloads.models import Workload
from workloads.plan import plan
from workloads.services import submit

pytestmark = pytest.mark.django_db
HIDDEN = "tr41n-l1ke-nobody-reads"
VARIABLE = ("worker", "environmentVariables", 0, "credential")


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


@pytest.fixture
def hub(project: Project) -> Credential:
    return CredentialFactory.create(home=project, name="hub", entered={"token": HIDDEN})


def draft(project: Project, credential: dict[str, Any], **values: Any) -> WorkloadDraft:
    taken = [{"name": "HF_TOKEN", "credential": credential}]
    worker = {"values": {"image": "train:1", "environmentVariables": taken, **values}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def variables_of(content: WorkloadDraft) -> list[dict[str, Any]]:
    its: list[dict[str, Any]] = content.worker.values["environmentVariables"]
    return its


def named(name: str = "hub", key: str = "token") -> dict[str, Any]:
    return {"name": name, "key": key}


def problems(planned: WorkloadDraft, by: User) -> dict[tuple[str | int, ...], str]:
    return {it.path: it.message for it in plan(planned, by=by).problems}


def test_a_workload_names_the_credential_and_is_linked_to_it(
    user: User, project: Project, hub: Credential
) -> None:
    workload = submit(draft(project, named()), by=user)
    (variable,) = workload.spec.worker.environment_variables
    assert variable.credential is not None
    assert (variable.credential.asset_id, variable.credential.name) == (hub.pk, "hub")
    assert [(it.kind, it.asset_id) for it in workload.assets.all()] == [("credential", hub.pk)]
    with pytest.raises(InUse, match="workload train"):
        services.delete(CREDENTIAL, hub, by=user)


def test_by_its_id_as_well(user: User, project: Project, hub: Credential) -> None:
    workload = submit(draft(project, {"assetId": str(hub.pk), "key": "token"}), by=user)
    assert workload.spec_json["worker"]["environmentVariables"][0]["credential"]["name"] == "hub"


def test_the_only_key_need_not_be_named(user: User, project: Project, hub: Credential) -> None:
    planned = draft(project, {"name": "hub"})
    (variable,) = plan(planned, by=user).require_ready().spec.worker.environment_variables
    assert variable.credential
    assert variable.credential.key == "token"
    hub.spec_json = {"kind": "genericSecret", "keys": ["token", "other"]}
    hub.save()
    assert problems(planned, user) == {(*VARIABLE, "key"): "is required"}


def test_of_one_name_the_nearest_is_meant(user: User, project: Project, hub: Credential) -> None:
    CredentialFactory.create(home=project, in_account=True, name="hub", entered={"token": "far"})
    workload = submit(draft(project, named()), by=user)
    assert launch_with_secrets(workload).secrets == {hub.pk: {"token": HIDDEN}}


def test_a_credential_that_cannot_be_used_is_told_at_the_variable(
    user: User, project: Project, hub: Credential
) -> None:
    other = CredentialFactory.create(name="theirs", entered={"token": "x"})
    for credential in (named("theirs"), {"assetId": str(other.pk), "key": "token"}):
        refusal = problems(draft(project, credential), user)[VARIABLE]
        assert refusal.endswith(f"can be used in {project.name}; choose another")
    assert problems(draft(project, named(key="password")), user) == {
        (*VARIABLE, "key"): "hub has no key 'password'; it has token"
    }
    assert (*VARIABLE, "name") in problems(draft(project, {"key": "token"}), user)


def test_a_command_line_must_not_hold_it(user: User, project: Project, hub: Credential) -> None:
    for field in ("command", "args"):
        words = problems(draft(project, named(), **{field: "login --token $(HF_TOKEN)"}), user)
        assert "must not name $(HF_TOKEN)" in words["worker", field]
    assert not problems(draft(project, named(), command="echo $$(HF_TOKEN)"), user)
    assert problems(draft(project, named(), command="echo $$$(HF_TOKEN)"), user)
    through = draft(project, named(), command="echo $(URL)")
    variables_of(through).append({"name": "URL", "value": "https://$(HF_TOKEN)@x.org"})
    assert "must not name $(URL)" in problems(through, user)["worker", "command"]


def test_an_existing_secret_is_read_by_the_cluster(user: User, project: Project) -> None:
    spec = {"kind": "genericSecret", "existingSecret": "kept-there"}
    CredentialFactory.create(home=project, name="hub", spec_json=spec)
    workload = submit(draft(project, named()), by=user)
    (variable,) = workload.spec.worker.environment_variables
    assert variable.secret is not None
    assert (variable.secret.name, variable.secret.key) == ("kept-there", "token")
    assert workload.assets.count() == 1


def test_the_value_is_that_of_the_day_it_starts(
    user: User, project: Project, hub: Credential
) -> None:
    workload = submit(draft(project, named()), by=user)
    hub.entered = {"token": "newer"}
    hub.save()
    assert launch_with_secrets(workload).secrets == {hub.pk: {"token": "newer"}}
    hub.secret_values.update(value="")
    hub.secret_values.all().delete()
    with pytest.raises(EngineRefused, match="hub no longer has a value for token"):
        launch_with_secrets(workload)


def test_a_value_under_a_lost_key_refuses_the_start(
    user: User, project: Project, hub: Credential, settings: Any
) -> None:
    workload = submit(draft(project, named()), by=user)
    settings.SECRET_KEY = "another"
    assert encrypt("x")
    with pytest.raises(EngineRefused, match="put the key back"):
        launch_with_secrets(workload)


def test_kubernetes_gets_it_in_the_workloads_own_secret(
    user: User, project: Project, hub: Credential
) -> None:
    workload = submit(draft(project, named()), by=user)
    launched = launch_with_secrets(workload)
    rendered = manifests(launched, prefix="team-")
    (secret,) = (it for it in rendered if it["kind"] == "Secret")
    assert secret["metadata"]["labels"] == labels(launched)
    assert [base64.b64decode(it).decode() for it in secret["data"].values()] == [HIDDEN]
    (key,) = secret["data"]
    job = str([it for it in rendered if it["kind"] != "Secret"])
    reference = {"secretKeyRef": {"name": secret_name(launched), "key": key}}
    assert str({"name": "HF_TOKEN", "valueFrom": reference}) in job
    assert HIDDEN not in job
    assert HIDDEN not in repr(launched)


def everywhere(client: Client, workload: Workload) -> str:
    pages = [f"/workloads/{workload.pk}/", f"/workloads/{workload.pk}/spec/", "/workloads/"]
    return "".join(client.get(page, follow=True).content.decode() for page in pages)


def test_no_page_manifest_or_event_shows_the_value(user: User) -> None:
    project = ProjectFactory.create(members=[user])
    CredentialFactory.create(home=project, name="hub", entered={"token": HIDDEN})
    workload = submit(draft(project, named(), command="sleep 1"), by=user)
    assert launch_with_secrets(workload).secrets
    shown = render_manifests_as_yaml(workload.cluster, launch_without_secrets(workload))
    told = [str(workload.__dict__), str(list(workload.events.values())), shown]
    assert "HF_TOKEN: '***'" in shown
    pages = everywhere(signed_in(user), workload)
    assert "HF_TOKEN" in pages
    assert HIDDEN not in "".join((*told, pages))


def test_a_form_keeps_the_id_as_long_as_the_name_stays() -> None:
    given = {"assetId": "8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10", "name": "hub", "key": "token"}
    cells = variables.unpack({"name": "HF_TOKEN", "credential": given})
    assert (cells["source"], cells["value"], cells["key"]) == ("credential", "hub", "token")
    assert variables.pack(dict(cells))["credential"] == given
    other = variables.pack({**cells, "value": "other"})
    assert other["credential"] == {"name": "other", "key": "token"}
