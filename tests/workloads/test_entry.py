"""Inside a workload its values can be read: one that uses somebody's own credentials is closed to
everyone else."""

from typing import Any
from uuid import uuid4

import pytest

from accounts import tokens
from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.credential.own_values import why_kept_out
from projects.models import Project
from projects.scopes import OwningScope
from spec.data.credential import CredentialSpec
from spec.draft import WorkloadDraft
from spec.problems.errors import path_text
from tests.factories import CredentialFactory, ProjectFactory, UserFactory, add_members
from tests.web import signed_in
from tests.workloads.own import use_own_credential
from workloads.api.warnings import WarningOut, warnings_of
from workloads.models import Workload
from workloads.plan import plan
from workloads.services import submit

pytestmark = pytest.mark.django_db
HUB = {"kind": "genericSecret", "keys": ["token"]}
FORGE = {"kind": "password"}
BUCKET = {"kind": "accessKey"}
REGISTRY = {"kind": "dockerRegistry", "server": "r.example.com"}
NAMED = {"name": "mine"}
GIT = {"repository": "https://git.example.com/a", "path": "/a", "credential": NAMED}
USES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "variable": (HUB, {"environmentVariables": [{"name": "T", "credential": NAMED}]}),
    "files": (HUB, {"storage": {"secretVolume": [{"mountPath": "/k", "credential": NAMED}]}}),
    "repository": (FORGE, {"storage": {"git": [GIT]}}),
    "bucket": (
        BUCKET,
        {"storage": {"s3": [{"bucket": "data", "path": "/b", "credential": NAMED}]}},
    ),
    "image pulls": (REGISTRY, {"imagePullSecrets": [{"name": "mine", "credential": True}]}),
}


@pytest.fixture
def colleague(project: Project) -> User:
    colleague: User = UserFactory(username="colleague")
    add_members(project, colleague)
    return colleague


def keep(user: User, document: dict[str, Any]) -> None:
    """A credential of their own."""
    names = CredentialSpec.model_validate(document).names
    services.create(
        CREDENTIAL,
        by=user,
        name="mine",
        scope=OwningScope(owner=user),
        document=document,
        entered=dict.fromkeys(names, "x"),
    )


def draft(project: Project, values: dict[str, Any]) -> WorkloadDraft:
    where = {"project": project.pk, "cluster": project.cluster_id}
    worker = {"values": {"image": "r.example.com/train:1", **values}}
    return WorkloadDraft.model_validate({"name": "train", **where, "worker": worker})


@pytest.mark.parametrize("use", USES)
def test_every_use_of_an_own_credential_closes_the_workload_to_others(
    member: User, colleague: User, use: str
) -> None:
    document, values = USES[use]
    keep(member, document)
    there = ProjectFactory.create(members=[member, colleague], cluster__kind="kubernetes")
    workload = submit(draft(there, values), by=member)
    assert not why_kept_out(workload, member)
    assert "belong to maria alone" in why_kept_out(workload, colleague)


def test_a_shared_credential_closes_nothing(
    workload: Workload, project: Project, colleague: User
) -> None:
    shared = CredentialFactory.create(home=project)
    workload.assets.create(kind=CREDENTIAL.slug, asset_id=shared.pk, role="worker")
    assert not why_kept_out(workload, colleague)


def test_a_shared_credential_that_went_with_its_department_closes_nothing(
    workload: Workload, colleague: User
) -> None:
    """As after the project had moved to another one."""
    workload.assets.create(kind=CREDENTIAL.slug, asset_id=uuid4(), role="worker")
    assert not why_kept_out(workload, colleague)


def test_administrators_are_kept_out_as_colleagues_are(
    workload: Workload, administrator: User
) -> None:
    use_own_credential(workload)
    why = why_kept_out(workload, administrator)
    assert "Ask maria" in why


def test_an_access_key_without_credentials_cannot_enter_their_workloads(
    workload: Workload, member: User
) -> None:
    use_own_credential(workload)
    for scopes, words in (["workloads.update"], "credentials.read"), (["credentials.read"], ""):
        member.acting_key = tokens.make_key(member, scopes[0], scopes=scopes)[0]
        assert words in why_kept_out(workload, member)
        assert bool(why_kept_out(workload, member)) is bool(words)


def test_a_workload_stays_closed_when_the_account_of_its_author_is_deleted(
    workload: Workload, member: User, administrator: User
) -> None:
    use_own_credential(workload)
    member.delete()
    workload = Workload.objects.get(pk=workload.pk)
    assert "a user who no longer exists" in why_kept_out(workload, administrator)


def test_the_author_reads_before_submission_whom_tools_are_open_to(member: User) -> None:
    there = ProjectFactory.create(members=[member], cluster__kind="kubernetes")
    inside = {"connectionType": "ClusterIP"}
    tools = [
        {"name": "lab", "containerPort": 1, **inside},
        {"name": "open", "containerPort": 2, "authorizationType": "authenticatedUsers", **inside},
        {"name": "port", "containerPort": 3, "connectionType": "NodePort"},
    ]
    values = {"connections": tools, **USES["variable"][1]}
    keep(member, USES["variable"][0])
    planned = plan(draft(there, values), by=member)
    places = [(path_text(it.path), it.message.partition(",")[0]) for it in planned.warnings]
    assert places == [
        ("worker.connections[1].authorizationType", "open is open to its author alone"),
        ("worker.connections[2].connectionType", "port is open to anyone who reaches its port"),
    ]
    workload = Workload.objects.get(pk=submit(draft(there, values), by=member).pk)
    shown = [WarningOut.of(problem) for problem in planned.warnings]
    assert warnings_of(workload) == shown, "as later"
    values["environmentVariables"] = []
    assert not plan(draft(there, values), by=member).warnings


def test_the_page_of_the_terminal_says_why(
    workload: Workload, member: User, colleague: User
) -> None:
    use_own_credential(workload)
    address = f"/workloads/{workload.pk}/terminal/"
    page = signed_in(colleague).get(address).content.decode()
    assert "digits uses credentials that belong to maria alone" in page
    assert "Open terminal" not in page
    assert "Open terminal" in signed_in(member).get(address).content.decode()
