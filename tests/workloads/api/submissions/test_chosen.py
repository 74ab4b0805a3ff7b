"""A request that names assets gets what it leaves out from them."""

from typing import Any
from uuid import uuid4

import pytest

from assets.models import ComputeResource, DataSource, Environment
from projects.models import Project
from tests.caller import Body, Caller
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
CREATE = "/workloads/distributed"


@pytest.fixture
def environment(project: Project) -> Environment:
    made: Environment = EnvironmentFactory(home=project)
    return made


@pytest.fixture
def compute(project: Project) -> ComputeResource:
    made: ComputeResource = ComputeResourceFactory(home=project)
    return made


def body(seed_body: Body, spec: dict[str, Any], **assets: Any) -> dict[str, Any]:
    whole = seed_body() | {"assets": assets, "spec": {"distributedFramework": "PyTorch"} | spec}
    return {key: value for key, value in whole.items() if not key.startswith("masterSpec")}


def fields(answer: dict[str, Any]) -> set[str]:
    return {issue["field"] for issue in answer["complianceIssues"]}


def test_a_request_has_from_its_assets_whatever_it_leaves_out(
    call: Caller,
    seed_body: Body,
    project: Project,
    environment: Environment,
    compute: ComputeResource,
) -> None:
    code = {"kind": "git", "git": {"repository": "https://example.com/a.git", "path": "/code"}}
    source: DataSource = DataSourceFactory(home=project, spec_json=code)
    mounted = [{"id": str(source.pk), "path": "/elsewhere"}]
    chosen = {"environment": str(environment.pk), "compute": str(compute.pk)}
    given = body(seed_body, {"numWorkers": 2}, **chosen, dataSources=mounted)
    status, made = call("POST", CREATE, given)
    assert status == 202, made
    assert made["spec"]["image"] == environment.spec.image
    assert "/elsewhere" in str(made["spec"]["storage"])
    used = call("GET", f"/asset/compute/{compute.pk}?usageInfo=true")[1]["usedBy"]
    assert [it["name"] for it in used["distributed"]] == [made["name"]]


def test_an_environment_alone_runs_with_the_usual_compute(
    call: Caller, seed_body: Body, environment: Environment
) -> None:
    given = body(seed_body, {"numWorkers": 2}, environment=str(environment.pk))
    given["spec"].pop("compute", None)
    status, made = call("POST", CREATE, given)
    assert status == 202, made
    compute = made["spec"]["compute"]
    assert (compute["cpuCoreRequest"], compute["cpuMemoryRequest"]) == (0.1, "100M")
    assert compute["gpuDevicesRequest"] == 0
    given = given | {"name": "own", "spec": given["spec"] | {"compute": {"cpuCoreRequest": 2}}}
    status, made = call("POST", CREATE, given)
    assert status == 202, made
    assert made["spec"]["compute"]["cpuCoreRequest"] == 2


def test_values_of_a_request_override_its_assets_for_every_pod(
    call: Caller, seed_body: Body, environment: Environment, compute: ComputeResource
) -> None:
    chosen = {"environment": str(environment.pk), "compute": str(compute.pk)}
    given = body(seed_body, {"image": "mine:1"}, **chosen) | {"masterSpec": {"args": "-v"}}
    status, made = call("POST", CREATE, given)
    assert status == 202, made
    assert made["spec"]["image"] == "mine:1"
    assert made["masterSpec"]["image"] == environment.spec.image
    assert made["masterSpec"]["args"] == "-v"


def test_an_asset_that_is_not_theirs_is_refused_by_its_field(
    call: Caller, seed_body: Body, environment: Environment
) -> None:
    others = ComputeResourceFactory(home=ProjectFactory())
    chosen = {"environment": str(environment.pk), "compute": str(others.pk)}
    sources = [{"id": str(uuid4())}]
    given = body(seed_body, {}, **chosen, dataSources=sources)
    status, refused = call("POST", CREATE, given)
    assert status == 400
    assert fields(refused) == {"assets.compute", "assets.dataSources.0.id"}


def test_workloads_of_one_pod_take_assets_too(
    call: Caller, seed_body: Body, environment: Environment, compute: ComputeResource
) -> None:
    chosen = {"environment": str(environment.pk), "compute": str(compute.pk)}
    given = body(seed_body, {}, **chosen) | {"spec": {}}
    status, made = call("POST", "/workloads/trainings", given)
    assert status == 202, made
    assert made["spec"]["image"] == environment.spec.image


def test_templates_are_found_and_read_but_not_made_there(call: Caller, project: Project) -> None:
    template = TemplateFactory(home=project, name="base", draft_json={"framework": "JAX"})
    path = "/asset/workload-template"
    status, page = call("GET", f"{path}?name=base&complyToProject={project.pk}")
    assert status == 200
    (entry,) = page["entries"]
    assert entry["meta"]["id"] == str(template.pk)
    assert entry["compliance"]["compliance"] is True
    assert call("GET", f"{path}/{template.pk}")[1]["spec"]["framework"] == "JAX"
    assert call("POST", path, {"meta": {}, "spec": {}})[0] == 405
