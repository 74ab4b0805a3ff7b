"""One more kind of asset is one more row: its pages, drafts and links need no other line."""

from types import ModuleType

import pytest
from django.urls import path
from ninja import NinjaAPI
from pytest_django import Settings

from accounts.api.tokens import Bearer
from accounts.models import User
from assets import services
from assets.api.routes import asset_router
from assets.compute.kind import COMPUTE, ComputeAssetKind
from assets.compute.model import ComputeResource
from assets.kinds import KINDS
from assets.template.kind import TEMPLATE
from assets.urls import pages
from assets.wire import AssetWire, WireType
from config import urls
from config.rest.api import api
from core.deletion import InUse
from core.rest.api import ApiError, note_unknown_parameters, refuse_unknown_parameters
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.problems.errors import SpecError
from tests.caller import Caller
from tests.factories import ComputeResourceFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.models import Draft, Workload
from workloads.services import submit

pytestmark = pytest.mark.django_db
assert COMPUTE.wire
(COMPUTE_TYPE,) = COMPUTE.wire.types


class Ration(ComputeAssetKind):
    slug = "fourth"
    path = "fourths"
    noun = "ration"
    title = "Rations"
    required_key = ""
    wire = AssetWire("ration", (WireType("ration", COMPUTE_TYPE.read, COMPUTE_TYPE.write),))

    def layer(self, asset: ComputeResource) -> Values:
        return {"labels": [{"name": "ration", "value": asset.name}]}


FOURTH = Ration()


@pytest.fixture(autouse=True)
def fourth(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setitem(KINDS, FOURTH.slug, FOURTH)
    addresses = ModuleType("addresses_with_a_fourth_kind")
    rest = NinjaAPI(auth=Bearer(), urls_namespace="fourth")
    rest.add_decorator(note_unknown_parameters, mode="view")
    rest.add_decorator(refuse_unknown_parameters)
    rest.add_exception_handler(ApiError, api._lookup_exception_handler(ApiError(400, "")))  # type: ignore[arg-type]
    rest.add_router("", asset_router(FOURTH))
    ours = [*pages(FOURTH), path("api/v1/", rest.urls)]
    addresses.__dict__["urlpatterns"] = [*ours, *urls.urlpatterns]
    settings.ROOT_URLCONF = addresses


@pytest.fixture
def user() -> User:
    return UserFactory()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory(members=[user])


@pytest.fixture
def ration(project: Project) -> ComputeResource:
    return ComputeResourceFactory(home=project, name="small")


@pytest.fixture
def draft(project: Project, ration: ComputeResource) -> WorkloadDraft:
    worker = ReplicaDraft(assets={"fourth": ration.pk}, values={"image": "train:1"})
    place = {"project": project.pk, "cluster": project.cluster_id}
    return WorkloadDraft.model_validate({"name": "train", **place, "worker": worker})


def test_a_new_kind_of_asset_has_pages_and_a_sidebar_link(
    user: User, ration: ComputeResource
) -> None:
    page = signed_in(user).get("/fourths/").content.decode()
    assert ration.name in page
    assert "+New ration" in page
    assert 'href="/fourths/"' in page
    for address in ("new/", f"{ration.pk}/", f"{ration.pk}/edit/", f"{ration.pk}/copy/"):
        assert signed_in(user).get(f"/fourths/{address}").status_code == 200


def test_a_workload_takes_from_it_and_is_linked_to_it(
    user: User, ration: ComputeResource, draft: WorkloadDraft
) -> None:
    workload: Workload = submit(draft, by=user)
    assert workload.spec.worker.labels[0].value == ration.name
    assert workload.origins_json["worker.labels"] == f"ration {ration.name}"
    link = workload.assets.get()
    assert (link.kind, link.asset_id, link.role) == ("fourth", ration.pk, "worker")
    (card,) = signed_in(user).get("/fourths/").context["cards"]
    assert card["foot"] == "Used by 1 workload"
    assert workload.name in signed_in(user).get(f"/fourths/{ration.pk}/").content.decode()
    assert signed_in(user).post(f"/fourths/{ration.pk}/delete/").status_code == 422


def test_a_template_remembers_it_and_shows_it(
    user: User, project: Project, ration: ComputeResource, draft: WorkloadDraft
) -> None:
    document = draft.model_dump(mode="json", by_alias=True)
    template = services.create(
        TEMPLATE, by=user, name="base", scope=OwningScope(project), document=document
    )
    assert template.assets.get().asset_id == ration.pk
    (card,) = signed_in(user).get("/templates/").context["cards"]
    assert (FOURTH.icon, "Ration", "small") in card["facts"]
    with pytest.raises(InUse, match="template base"):
        services.delete(FOURTH, ration, by=user)


def test_the_wizard_asks_for_an_asset_of_a_new_kind(
    user: User, ration: ComputeResource, draft: WorkloadDraft
) -> None:
    row = Draft.objects.create(owner=user, document=draft.model_dump(mode="json", by_alias=True))
    page = signed_in(user).get(f"/workloads/drafts/{row.pk}/2/").content.decode()
    assert f'name="worker-fourth" id="worker-fourth-{ration.pk}" value="{ration.pk}"' in page
    assert "+NEW RATION" in page
    signed_in(user).post(f"/workloads/drafts/{row.pk}/2/", {"worker-fourth": ""})
    row.refresh_from_db()
    assert row.content.worker.assets == {}


def test_a_deleted_asset_of_a_new_kind_is_a_field_problem(
    user: User, ration: ComputeResource, draft: WorkloadDraft
) -> None:
    services.delete(FOURTH, ration, by=user)
    with pytest.raises(SpecError) as caught:
        submit(draft, by=user)
    (problem,) = caught.value.problems
    assert problem.field == "worker.fourth"
    assert problem.message.startswith("this ration no longer exists")


def test_rest_has_calls_for_a_kind_of_asset_with_a_wire_format(
    user: User, project: Project, ration: ComputeResource
) -> None:
    call = Caller(user)
    (entry,) = call("GET", "/asset/ration?search=small&usageInfo=true")[1]["entries"]
    assert (entry["meta"]["kind"], entry["usedBy"]["templates"]) == ("ration", [])
    meta = {"name": "large", "scope": "project", "projectId": project.pk}
    status, answer = call("POST", "/asset/ration", {"meta": meta, "spec": {"cpuCoreRequest": -1}})
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "spec.cpuCoreRequest")
    assert answer["message"] == "The ration cannot be saved."
    status, answer = call("POST", "/asset/ration", {"meta": meta, "spec": {"cpuCoreRequest": 2}})
    assert status == 201
    one = f"/asset/ration/{answer['meta']['id']}"
    assert call("PUT", one, {"meta": {"name": "huge"}})[1]["meta"]["name"] == "huge"
    assert call("DELETE", one)[0] == 204
