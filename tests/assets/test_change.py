"""Editing, copying and deleting assets."""

import json
from typing import Any

import pytest

from assets.models import ComputeResource, Environment, Template
from spec.formats import documents
from spec.parts.compute import Compute
from spec.parts.environment import Environment as EnvironmentSpec
from tests.assets import posts
from tests.assets.links import named
from tests.assets.posts import FACTORIES
from tests.documents import says
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.web import DRAWER, signed_in

pytestmark = pytest.mark.django_db
KINDS = pytest.mark.parametrize("prefix", FACTORIES)


def filled(form: Any) -> dict[str, Any]:
    """What a browser would post of an untouched form."""
    data: dict[str, Any] = {}
    for shown in form:
        for item in shown.items:
            data |= {it.id: it.value for it in item.cells} | {item.rest_id: item.rest}
            data |= {f"{it.id}-{at}": name for it in item.cells for at, name in enumerate(it.names)}
        if shown.field.is_list or shown.disabled:
            continue
        if shown.field.input == "flag":
            data |= {shown.name: "on"} if shown.value else {}
        elif shown.field.input == "many":
            data[shown.name] = shown.chosen
        else:
            first = next((value for value, _ in shown.options), "")
            data[shown.name] = shown.chosen[0] or first
    return data


def test_an_untouched_environment_keeps_every_value() -> None:
    spec = {
        "image": "python:3.12",
        "imagePullPolicy": "Always",
        "command": "python",
        "environmentVariables": [
            {"name": "A", "value": "1", "description": "one"},
            {"name": "B", "secret": {"name": "s", "key": "k"}},
            {"name": "C", "podFieldRef": {"path": "metadata.name"}},
        ],
        "connections": [
            {"name": "Board", "toolType": "tensorboard", "containerPort": 6006},
            {
                "name": "Ours",
                "containerPort": 80,
                "authorizationType": "authorizedGroups",
                "authorizedGroups": ["vision", "speech"],
            },
        ],
        "security": {"uidGidSource": "custom", "runAsUid": 7, "runAsNonRoot": False},
        "stdin": True,
    }
    environment = EnvironmentFactory(spec_json=spec, framework="TF", distributed=False)
    client = signed_in(UserFactory(administrator=True))
    address = f"/environments/{environment.pk}/edit/"
    response = client.post(address, filled(client.get(address).context["form"]))
    assert response.status_code == 302, response.context["form"].errors
    environment.refresh_from_db()
    assert documents.without_defaults(environment.spec_json, EnvironmentSpec) == spec
    assert (environment.framework, environment.distributed) == ("TF", False)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"gpuDevicesRequest": 2},
        {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.25},
        {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "1.5G"},
        {"cpuCoreRequest": 0.25, "cpuMemoryRequest": "2Gi", "cpuMemoryLimit": "4Gi"},
        {"largeShmRequest": True, "extendedResources": [{"resource": "a/b", "quantity": "2"}]},
    ],
)
def test_an_untouched_compute_resource_keeps_every_value(spec: dict[str, Any]) -> None:
    compute = ComputeResourceFactory(spec_json=spec)
    client = signed_in(UserFactory(administrator=True))
    address = f"/compute-resources/{compute.pk}/edit/"
    response = client.post(address, filled(client.get(address).context["form"]))
    assert response.status_code == 302, response.context["form"].errors
    compute.refresh_from_db()
    assert documents.without_defaults(compute.spec_json, Compute) == spec


def test_an_edit_from_the_drawer_closes_it_and_refreshes_the_page() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    environment = EnvironmentFactory(home=project)
    post = posts.environment(project, name="renamed")
    response = signed_in(user).post(f"/environments/{environment.pk}/edit/", post, **DRAWER)
    assert {"page-changed", "drawer-close", "toasts"} <= json.loads(response["HX-Trigger"]).keys()
    environment.refresh_from_db()
    assert environment.name == "renamed"


def test_an_edit_moves_nothing_to_another_scope() -> None:
    environment = EnvironmentFactory()
    other = ProjectFactory()
    post = posts.environment(other)
    signed_in(UserFactory(administrator=True)).post(f"/environments/{environment.pk}/edit/", post)
    home = environment.project
    environment.refresh_from_db()
    assert environment.project == home


@KINDS
def test_members_do_not_change_what_belongs_to_many(prefix: str) -> None:
    user = UserFactory()
    asset = FACTORIES[prefix](home=ProjectFactory(members=[user]), in_cluster=True)
    client = signed_in(user)
    assert client.get(f"/{prefix}/{asset.pk}/").status_code == 200
    assert client.get(f"/{prefix}/{asset.pk}/edit/").status_code == 403
    assert client.post(f"/{prefix}/{asset.pk}/edit/", {"name": "mine"}).status_code == 403
    assert client.post(f"/{prefix}/{asset.pk}/delete/").status_code == 403
    assert "delete/" not in client.get(f"/{prefix}/{asset.pk}/").content.decode()


@KINDS
def test_members_copy_what_they_see_into_their_project(prefix: str) -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    asset = FACTORIES[prefix](home=project, in_cluster=True, name="base")
    client = signed_in(user)
    form = client.get(f"/{prefix}/{asset.pk}/copy/", **DRAWER).context["form"]
    assert form["name"].value == "base-copy"
    post = filled(form) | posts.place(project)
    assert client.post(f"/{prefix}/{asset.pk}/copy/", post).status_code == 302
    twin = type(asset).objects.exclude(pk=asset.pk).get()
    assert (twin.name, twin.project, twin.created_by) == ("base-copy", project, user)
    values = "draft_json" if prefix == "templates" else "spec_json"
    assert says(getattr(twin, values), getattr(asset, values))


def test_a_copied_template_remembers_its_assets() -> None:
    environment = EnvironmentFactory()
    document = {"worker": {"assets": {"environment": str(environment.pk)}}}
    template = TemplateFactory(home=environment.project, draft_json=document)
    client = signed_in(UserFactory(administrator=True))
    post = {**posts.place(template.project), "name": "twin"}
    client.post(f"/templates/{template.pk}/copy/", post)
    assert Template.objects.get(name="twin").assets.get().asset_id == environment.pk


@KINDS
def test_deleting_asks_first(prefix: str) -> None:
    user = UserFactory()
    asset = FACTORIES[prefix](home=ProjectFactory(members=[user]))
    client = signed_in(user)
    assert f"Delete {asset.name}?" in client.get(f"/{prefix}/{asset.pk}/delete/").content.decode()
    assert type(asset).objects.exists()
    response = client.post(f"/{prefix}/{asset.pk}/delete/")
    assert response["Location"] == f"/{prefix}/"
    assert not type(asset).objects.exists()


def test_a_compute_resource_in_use_stays_and_says_who_uses_it() -> None:
    user = UserFactory()
    compute = ComputeResourceFactory(home=ProjectFactory(members=[user]))
    template = TemplateFactory(home=compute.project)
    named(template, compute)
    workload = WorkloadFactory(completed=True, project=compute.project)
    named(workload, compute)
    client = signed_in(user)
    address = f"/compute-resources/{compute.pk}/delete/"
    response = client.post(address, **DRAWER)
    assert response.status_code == 422
    assert workload.name in response.content.decode()
    assert template.name in response.content.decode()
    template.delete()
    workload.deleted_at = workload.created_at
    workload.save()
    assert client.post(address).status_code == 302
    assert not ComputeResource.objects.exists()


def test_an_environment_in_use_may_go() -> None:
    environment = EnvironmentFactory()
    workload = WorkloadFactory(running=True, project=environment.project)
    named(workload, environment)
    signed_in(UserFactory(administrator=True)).post(f"/environments/{environment.pk}/delete/")
    assert not Environment.objects.exists()
    workload.refresh_from_db()
    assert workload.assets.get().asset_id == environment.pk
