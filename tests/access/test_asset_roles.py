"""The roles that manage one kind of asset do so by every door, and only see the other kinds."""

from typing import Any

import pytest
import yaml

from accounts import roles
from accounts.models import AccessRole, User
from assets.base import AssetKind
from assets.compute.kind import COMPUTE
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.environment.kind import ENVIRONMENT
from assets.kinds import KINDS
from assets.models import Template
from assets.template.kind import TEMPLATE
from projects.models import Project
from tests.assets.each_kind import create_assets
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory, give
from tests.fuzz.bodies import ASSETS
from tests.web import signed_in
from workloads.plan import plan
from workloads.wizard import drafts

pytestmark = pytest.mark.django_db
MANAGED: dict[str, AssetKind[Any]] = {
    "Environment administrator": ENVIRONMENT,
    "Compute resource administrator": COMPUTE,
    "Data source administrator": DATA_SOURCE,
    "Credentials administrator": CREDENTIAL,
    "Template administrator": TEMPLATE,
}
#: A path in REST where an asset of each kind is created.
PATHS: dict[AssetKind[Any], str] = {
    ENVIRONMENT: "environment",
    COMPUTE: "compute",
    DATA_SOURCE: "datasource/nfs",
    CREDENTIAL: "credentials/password",
}
TEMPLATES = "/workload-templates/distributed"
EACH = pytest.mark.parametrize("role", MANAGED)
#: A role of an asset that everyone sees, and that of the one that others do not see.
UNLIKE = ("Environment administrator", "Credentials administrator")
ON_PAGES = pytest.mark.parametrize(
    "role",
    [pytest.param(it, marks=() if it in UNLIKE else pytest.mark.extended) for it in MANAGED],
)


@pytest.fixture
def project(valkey: object) -> Project:
    return ProjectFactory.create()


@pytest.fixture
def assets(project: Project) -> dict[AssetKind[Any], Any]:
    return create_assets(project)


@pytest.fixture
def person(role: str, project: Project) -> User:
    user: User = UserFactory.create()
    give(user, role, project.scope_keys[0])
    return user


def is_visible(role: str, kind: AssetKind[Any]) -> bool:
    return kind is MANAGED[role] or kind is not CREDENTIAL


def test_each_kind_of_asset_has_a_role_that_manages_it_alone(db: None) -> None:
    assert set(MANAGED.values()) == set(KINDS.values())
    for name, managed in MANAGED.items():
        permissions = AccessRole.objects.get(name=name).permissions
        changed = {it.partition(".")[0] for it in permissions if not it.endswith(".read")}
        assert changed == {managed.model.RESOURCE}


@ON_PAGES
def test_pages_change_the_managed_kind_alone(
    role: str, person: User, assets: dict[AssetKind[Any], Any]
) -> None:
    web = signed_in(person)
    for kind, asset in assets.items():
        page = web.get(kind.address("detail", asset.pk))
        assert page.status_code == (200 if is_visible(role, kind) else 404), kind
        status = 200 if kind is MANAGED[role] else 403 if is_visible(role, kind) else 404
        for action, permission in (("edit", "update"), ("delete", "delete"), ("copy", "create")):
            address = kind.address(action, asset.pk)
            answer = web.get(address)
            assert answer.status_code == status, address
            assert (address in page.content.decode()) is (status == 200), address
            if status == 403:
                assert kind.model.permission(permission) in answer.content.decode(), address


@ON_PAGES
def test_galleries_offer_to_create_the_managed_kind_alone(
    role: str, person: User, assets: dict[AssetKind[Any], Any]
) -> None:
    web = signed_in(person)
    for kind, asset in assets.items():
        gallery = web.get(kind.address("list")).content.decode()
        may_create = kind is MANAGED[role] or kind.may_be_personal
        assert (f"+New {kind.noun}" in gallery) is may_create, kind
        assert (asset.name in gallery) is is_visible(role, kind), kind
        if kind.has_form:
            answer = web.get(kind.address("create"))
            assert answer.status_code == (200 if may_create else 403), kind
            if may_create and kind is not MANAGED[role]:
                assert list(answer.context["form"].scopes) == ["me"], "only one of their own"


@EACH
def test_rest_changes_the_managed_kind_alone(
    role: str, person: User, project: Project, assets: dict[AssetKind[Any], Any]
) -> None:
    call = Caller(person)
    for kind, path in PATHS.items():
        is_managed = kind is MANAGED[role]
        meta = {"name": "new", "scope": "project", "projectId": str(project.pk)}
        status, answer = call("POST", f"/asset/{path}", {"meta": meta, "spec": ASSETS[path]})
        assert status == (201 if is_managed else 403), answer
        if not is_managed:
            assert kind.model.permission("create") in answer["message"]
    meta = {"name": "new", "scopeType": "project", "scopeId": str(project.pk)}
    status, _ = call("POST", TEMPLATES, {"meta": meta, "spec": {"numWorkers": 2}})
    assert (status in {200, 201}) is (MANAGED[role] is TEMPLATE)
    status, _ = call("DELETE", f"{TEMPLATES}/{assets[TEMPLATE].pk}")
    assert status == (204 if MANAGED[role] is TEMPLATE else 403)


@EACH
def test_a_workload_is_saved_as_a_template_by_those_who_may_create_one(
    role: str, person: User, project: Project
) -> None:
    workload = WorkloadFactory.create(project=project)
    web = signed_in(person)
    address = f"/workloads/{workload.pk}/template/"
    posted = {"name": "base", "cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}
    answers = (web.get(address), web.post(address, posted))
    may = MANAGED[role] is TEMPLATE
    assert [it.status_code for it in answers] == ([200, 302] if may else [403, 403])
    assert Template.objects.filter(name="base").exists() is may
    assert (address in web.get(f"/workloads/{workload.pk}/menu/").content.decode()) is may


def test_a_draft_is_saved_as_a_template_by_those_who_may_create_one(project: Project) -> None:
    submitter: User = UserFactory.create()
    give(submitter, "L2 researcher", project.scope_keys[0])
    draft = drafts.begin(submitter, project=str(project.pk))
    web = signed_in(submitter)
    assert web.get(f"/workloads/drafts/{draft.pk}/template/").status_code == 403
    page = web.get(draft.get_absolute_url()).content.decode()
    assert "Save as template" not in page
    assert "+NEW ENVIRONMENT" not in web.get(f"/workloads/drafts/{draft.pk}/2/").content.decode()
    give(submitter, "Template administrator", project.scope_keys[0])
    assert "Save as template" in web.get(draft.get_absolute_url()).content.decode()


@pytest.fixture
def runner(project: Project) -> User:
    """Someone who submits workloads, and sees compute resources alone among the assets."""
    sets = ("manage-workloads", "view-projects", "view-clusters", "view-compute-resources")
    administrator = UserFactory.create(administrator=True)
    roles.create_role(by=administrator, name="Runner", permission_sets=sets)
    user: User = UserFactory.create()
    give(user, "Runner", project.scope_keys[0])
    return user


def test_yaml_and_submissions_find_no_asset_of_a_kind_that_is_not_seen(
    runner: User, project: Project, assets: dict[AssetKind[Any], Any]
) -> None:
    chosen = {"environment": assets[ENVIRONMENT], "compute": assets[COMPUTE]}
    draft = drafts.begin(runner, project=str(project.pk))
    text = yaml.safe_dump({"assets": {kind: asset.name for kind, asset in chosen.items()}})
    answer = signed_in(runner).post(f"/workloads/drafts/{draft.pk}/yaml/", {"yaml": text})
    page = answer.content.decode()
    assert f"&#x27;{chosen['environment'].name}&#x27; is the name of no environment" in page
    assert f"&#x27;{chosen['compute'].name}&#x27; is the name of no" not in page
    content = draft.content.model_copy(deep=True)
    content.worker.assets = {kind: asset.pk for kind, asset in chosen.items()}
    paths = [path for problem in plan(content, by=runner).problems for path in problem.path[1:2]]
    assert "environment" in paths
    assert "compute" not in paths
