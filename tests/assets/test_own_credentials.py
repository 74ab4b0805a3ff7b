"""Credentials of one person: nobody else sees or uses them."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from accounts import tokens
from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.models import Credential
from audit.models import AuditEntry
from core.deletion import InUse
from engines.base import EngineRefused
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import WorkloadDraft
from spec.problems.errors import SpecError
from tests.caller import Caller
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.launch import launch_with_secrets
from workloads.models import Draft
from workloads.plan import plan
from workloads.services import submit

pytestmark = pytest.mark.django_db
HIDDEN = "tr41n-l1ke-nobody-reads"


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def bob() -> User:
    return UserFactory.create(username="bob")


@pytest.fixture
def project(ada: User, bob: User) -> Project:
    return ProjectFactory.create(members=[ada, bob], cluster__kind="kubernetes")


def own(user: User, name: str = "hub", **more: Any) -> Credential:
    document = {"kind": "genericSecret", "keys": ["token"], **more}
    return services.create(
        CREDENTIAL,
        by=user,
        name=name,
        scope=OwningScope(owner=user),
        document=document,
        entered={"token": HIDDEN},
    )


def draft(project: Project, credential: dict[str, Any]) -> WorkloadDraft:
    variable = {"name": "HF_TOKEN", "credential": credential}
    worker = {"values": {"image": "train:1", "environmentVariables": [variable]}}
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def test_an_own_credential_is_seen_and_changed_by_its_owner_alone(
    project: Project, ada: User, bob: User
) -> None:
    credential = own(ada)
    admin = UserFactory.create(administrator=True)
    address = f"/credentials/{credential.pk}/"
    mine = signed_in(ada)
    for page in ("/credentials/", "/credentials/?scope=me", "/credentials/export.csv", address):
        assert "Only you" in mine.get(page).content.decode()
    for other in (bob, admin):
        web = signed_in(other)
        for page in ("", "edit/", "copy/", "delete/", "versions/"):
            assert web.get(f"{address}{page}").status_code == 404
        for page in ("/credentials/", "/credentials/?scope=me", "/credentials/export.csv"):
            assert "hub" not in web.get(page).content.decode()
        with pytest.raises(PermissionDenied):
            services.update(CREDENTIAL, credential, by=other, name="mine")
    assert mine.post(f"{address}delete/").status_code == 302
    assert not Credential.objects.exists()


def test_an_access_key_does_to_own_credentials_what_it_has_permissions_for(ada: User) -> None:
    credential = own(ada)
    one = f"/asset/credentials/generic-secret/{credential.pk}"
    every = "/asset/credentials"
    new = {"meta": {"name": "new", "scope": "tenant", "private": True}}
    new["spec"] = {"keyValuePairs": [{"key": "token", "value": "x"}]}
    change = {"meta": {}, "spec": {"keyValuePairs": [{"key": "token", "value": "mine"}]}}
    for scopes, shown in (["credentials.read"], 1), (["workloads.read"], 0):
        ada.acting_key = tokens.make_key(ada, scopes[0], scopes=scopes)[0]
        call = Caller(ada)
        assert len(call("GET", every)[1]["entries"]) == shown
        refused = 403 if shown else 404
        assert call("GET", one)[0] == (200 if shown else 404)
        assert (call("PUT", one, change)[0], call("DELETE", one)[0]) == (refused, refused)
        assert call("POST", "/asset/credentials/generic-secret", new)[0] == 403
    assert Credential.objects.get().secret_values.get().value == HIDDEN
    ada.acting_key = tokens.make_key(ada, "all", scopes=["credentials.read", "credentials.update"])[
        0
    ]
    assert Caller(ada)("PUT", one, change)[0] == 200


def test_an_access_key_uses_own_credentials_where_it_may_see_assets(
    project: Project, ada: User
) -> None:
    own(ada)
    for more, refused in (["credentials.read"], False), ([], True):
        scopes = ["projects.read", "clusters.read", "workloads.create", *more]
        ada.acting_key = tokens.make_key(ada, str(refused), scopes=scopes)[0]
        problems = plan(draft(project, {"name": "hub", "key": "token"}), by=ada).problems
        words = "no credential 'hub' can be used"
        assert [words in problem.message for problem in problems] == [True] * refused


def test_a_person_who_may_not_create_assets_creates_one_of_their_own(project: Project) -> None:
    reader = UserFactory.create(username="reader")
    web = signed_in(reader)
    form = web.get("/credentials/new/?scope=me").context["form"]
    assert form["scope"].value == "me"
    posted = {"cluster": "account", "scope": "me", "name": "hub"}
    pair = {"values-pairs-0-rest": "", "values-pairs-0-name": "token", "values-pairs-0-value": "x"}
    posted |= {"kind": "genericSecret", **pair}
    answer = web.post("/credentials/new/?scope=me", posted)
    assert answer.status_code == 302, answer.context["form"].errors
    credential = Credential.objects.get()
    assert (credential.owner, credential.scope, credential.cluster) == (reader, "account", None)
    assert "among your own" in str(web.post("/credentials/new/", posted).context["form"].errors)


def test_the_audit_log_names_whose_it_is(ada: User) -> None:
    credential = own(ada)
    services.update(CREDENTIAL, credential, by=ada, description="for the hub")
    services.delete(CREDENTIAL, credential, by=ada)
    deleted, updated, created = AuditEntry.objects.all()
    assert deleted.before["scope"] == created.after["scope"] == "Only ada"
    assert "scope" not in updated.after, "it did not change"
    shared = CredentialFactory.create(in_account=True)
    services.delete(CREDENTIAL, shared, by=UserFactory.create(administrator=True))
    assert AuditEntry.objects.all()[0].before["scope"] == "account"


def test_a_name_of_ones_own_is_taken_for_oneself_alone(ada: User, bob: User) -> None:
    own(ada)
    own(bob)
    CredentialFactory.create(name="hub", in_account=True)
    with pytest.raises(SpecError, match="among your own"):
        own(ada)


def test_a_workload_takes_the_own_value_of_who_submits_it(
    project: Project, ada: User, bob: User
) -> None:
    CredentialFactory.create(home=project, name="hub", entered={"token": "shared"})
    credential = own(ada)
    workload = submit(draft(project, {"name": "hub"}), by=ada)
    assert launch_with_secrets(workload).secrets == {credential.pk: {"token": HIDDEN}}
    theirs = submit(draft(project, {"name": "hub"}).model_copy(update={"name": "b"}), by=bob)
    assert HIDDEN not in str(launch_with_secrets(theirs).secrets), "bob has the one of the project"
    with pytest.raises(InUse, match="workload train"):
        services.delete(CREDENTIAL, credential, by=ada)
    workload.created_by = bob
    with pytest.raises(EngineRefused, match="hub no longer has a value for token"):
        launch_with_secrets(workload)


def test_a_copy_or_template_of_somebody_else_says_whose_it_is(
    project: Project, ada: User, bob: User
) -> None:
    credential = own(ada)
    named = {"assetId": str(credential.pk), "name": "hub", "key": "token"}
    content = draft(project, named)
    assert not plan(content, by=ada).problems
    (problem,) = plan(content, by=bob).problems
    assert problem.path == ("worker", "environmentVariables", 0, "credential")
    assert "the credential 'hub' is another person's own; choose one of yours" in problem.message
    document = content.model_dump(mode="json", by_alias=True)
    copy = Draft.objects.create(owner=bob, document=document)
    page = signed_in(bob).get(f"/workloads/drafts/{copy.pk}/2/").content.decode()
    assert "hub (another person&#x27;s own)" in page
    assert HIDDEN not in page


def test_a_data_source_names_no_credential_of_one_person(project: Project, ada: User) -> None:
    credential = own(ada)
    named = {"assetId": str(credential.pk), "name": "hub"}
    document = {"kind": "secretVolume", "secretVolume": {"mountPath": "/keys", "credential": named}}
    with pytest.raises(SpecError, match="hub cannot be used in Project"):
        services.create(
            DATA_SOURCE, by=ada, name="keys", scope=OwningScope(project), document=document
        )


def test_an_own_registry_is_applied_where_its_owner_names_it(
    project: Project, ada: User, bob: User
) -> None:
    registry = services.create(
        CREDENTIAL,
        by=ada,
        name="images",
        scope=OwningScope(owner=ada),
        document={"kind": "dockerRegistry", "server": "r.example.com"},
        entered={"username": "ada", "password": HIDDEN},
    )
    place = {"project": project.pk, "cluster": project.cluster_id}
    named = {"imagePullSecrets": [{"name": "images", "credential": True}]}

    def pulls(name: str, by: User, **values: Any) -> str:
        worker = {"values": {"image": "r.example.com/train:1", **values}}
        content = WorkloadDraft.model_validate({"name": name, **place, "worker": worker})
        return str(launch_with_secrets(submit(content, by=by)).registries[:1] and HIDDEN)

    assert pulls("named", ada, **named) == HIDDEN
    assert pulls("unnamed", ada) == pulls("theirs", bob) == "()"
    assert registry.owner == ada


def test_the_wizard_offers_ones_own(project: Project, ada: User, bob: User) -> None:
    own(ada)
    document = draft(project, {"name": ""}).model_dump(mode="json", by_alias=True)
    for user, offered in ((ada, True), (bob, False)):
        row = Draft.objects.create(owner=user, document=document)
        page = signed_in(user).get(f"/workloads/drafts/{row.pk}/2/").content.decode()
        assert ("hub (Generic secret, Only you)" in page) is offered
