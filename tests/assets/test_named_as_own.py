"""Run:ai's ``userCredential``: one of the author's own, and no other of that name."""

from typing import Any

import pytest

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.models import Credential
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import WorkloadDraft
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from workloads.launch import launch_with_secrets
from workloads.plan import plan
from workloads.services import submit
from workloads.wizard.sections.container import variables

pytestmark = pytest.mark.django_db
NAMED = {"name": "hub", "key": "token"}


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def project(ada: User) -> Project:
    return ProjectFactory.create(members=[ada], cluster__kind="kubernetes")


def own(user: User, **document: Any) -> Credential:
    document = document or {"kind": "genericSecret", "keys": ["token"]}
    entered = {"username": "u", "password": "p"} if "server" in document else {"token": "mine"}
    place = OwningScope(owner=user)
    return services.create(
        CREDENTIAL, by=user, name="hub", scope=place, document=document, entered=entered
    )


def draft(project: Project, **worker: Any) -> WorkloadDraft:
    place = {"project": project.pk, "cluster": project.cluster_id}
    values = {"values": {"image": "train:1", **worker}}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": values})


def with_variable(project: Project, **variable: Any) -> WorkloadDraft:
    return draft(project, environmentVariables=[{"name": "HF_TOKEN", **variable}])


def test_a_variable_takes_the_authors_own_and_is_stored_as_any_other(
    project: Project, ada: User
) -> None:
    credential = own(ada)
    workload = submit(with_variable(project, userCredential=NAMED), by=ada)
    assert launch_with_secrets(workload).secrets == {credential.pk: {"token": "mine"}}
    (stored,) = workload.spec_json["worker"]["environmentVariables"]
    assert stored["credential"] == {"assetId": str(credential.pk), **NAMED}
    assert "userCredential" not in stored


def test_another_one_of_that_name_is_not_taken_for_it(project: Project, ada: User) -> None:
    CredentialFactory.create(home=project, name="hub", entered={"token": "shared"})
    (problem,) = plan(with_variable(project, userCredential=NAMED), by=ada).problems
    assert problem.path == ("worker", "environmentVariables", 0, "userCredential")
    assert "no credential 'hub' can be used" in problem.message


def test_two_sources_are_one_too_many(project: Project, ada: User) -> None:
    own(ada)
    both = with_variable(project, userCredential=NAMED, credential=NAMED)
    assert "one source, not several" in str(plan(both, by=ada).problems)


def test_an_own_registry_pulls_the_images(project: Project, ada: User) -> None:
    pulls = draft(project, imagePullSecrets=[{"name": "hub", "userCredential": True}])
    (problem,) = plan(pulls, by=ada).problems
    assert "the credential hub cannot be used" in problem.message
    registry = {"kind": "dockerRegistry", "server": "ghcr.io"}
    credential = own(ada, **registry)
    (stored,) = submit(pulls, by=ada).spec_json["worker"]["imagePullSecrets"]
    assert stored == {"name": "hub", "credential": True, "assetId": str(credential.pk)}


def test_the_wizard_shows_it_as_a_credential() -> None:
    shown = variables.unpack({"name": "HF_TOKEN", "userCredential": NAMED})
    assert (shown["source"], shown["value"], shown["key"]) == ("credential", "hub", "token")
    assert "userCredential" not in shown
