"""Making assets: by the page, from the wizard's drawer, and refusals."""

import json
from typing import Any

import pytest

from assets.models import ComputeResource, Environment
from spec.formats import documents
from spec.parts.compute import Compute
from spec.parts.environment import Environment as EnvironmentSpec
from tests.assets import posts
from tests.assets.posts import rows
from tests.factories import EnvironmentFactory, ProjectFactory, UserFactory
from tests.web import DRAWER, signed_in

pytestmark = pytest.mark.django_db


def test_an_environment_needs_only_a_name_and_an_image() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    response = signed_in(user).post("/environments/new/", posts.environment(project))
    made = Environment.objects.get()
    assert response["Location"] == f"/environments/{made.pk}/"
    assert (made.name, made.project, made.created_by) == ("pytorch-dt", project, user)
    given = {"image": "kubeflow/pytorch-dist-mnist:latest"}
    assert documents.without_defaults(made.spec_json, EnvironmentSpec) == given
    assert made.spec_json["imagePullPolicy"] == "IfNotPresent", "a default is a value"
    assert made.distributed


def test_every_field_of_an_environment_is_kept() -> None:
    user = UserFactory(administrator=True)
    project = ProjectFactory()
    post = posts.environment(
        project,
        image_pull_policy="Always",
        framework="PyTorch",
        command="python train.py",
        args="--epochs 3",
        working_dir="/workspace",
        uid_gid_source="custom",
        run_as_uid="1000",
        run_as_gid="100",
        supplemental_groups="5, 6",
        override_uid_gid="on",
        capabilities=["SYS_PTRACE", "IPC_LOCK"],
        run_as_non_root="yes",
        stdin="on",
        tty="on",
        **rows(
            "variables",
            {"name": "EPOCHS", "source": "value", "value": " 3 "},
            {"name": "", "source": "value", "value": ""},
            {"name": "GONE", "source": "value", "value": "1", "DELETE": "on"},
            {"name": "TOKEN", "source": "secret", "value": "my-secret", "key": "token"},
        ),
        **rows("tools", {"tool_type": "tensorboard", "container_port": "6006"}),
    )
    post["tools-0-connection_type"] = "ExternalUrl"
    signed_in(user).post("/environments/new/", post)
    made = Environment.objects.get()
    assert (made.framework, made.override_uid_gid) == ("PyTorch", True)
    spec = made.spec
    assert spec.environment_variables[0].value == " 3 "
    assert spec.environment_variables[1].secret is not None
    assert len(spec.environment_variables) == 2
    assert spec.connections[0].name == "TensorBoard"
    assert (spec.security.run_as_uid, spec.security.run_as_non_root) == (1000, True)
    assert spec.security.capabilities == ("SYS_PTRACE", "IPC_LOCK")
    assert (spec.command, spec.args, spec.tty) == ("python train.py", "--epochs 3", True)


def test_the_readiness_probe_of_an_environment_is_kept() -> None:
    project = ProjectFactory.create()
    fields = {"probe_port": "8080", "probe_scheme": "HTTPS", "probe_periodSeconds": "5"}
    client = signed_in(UserFactory(administrator=True))
    wrong = client.post("/environments/new/", posts.environment(project, probe_path="/up"))
    assert "Port is required" in wrong.content.decode()
    client.post("/environments/new/", posts.environment(project, **fields))
    made = Environment.objects.get()
    probe = made.spec.probes.readiness
    assert probe is not None
    assert (probe.handler.http_get.port, probe.period_seconds) == (8080, 5)
    assert probe.handler.http_get.scheme == "HTTPS"
    page = client.get(f"/environments/{made.pk}/edit/").content.decode()
    assert 'value="8080"' in page


def test_a_tool_for_specific_users_wants_their_names() -> None:
    user = UserFactory(administrator=True)
    cells = {"tool_type": "tensorboard", "container_port": "6006", "access": "authorizedUsers"}
    client = signed_in(user)
    place = ProjectFactory.create()
    post = posts.environment(place, **rows("tools", cells | {"connection_type": "ExternalUrl"}))
    page = client.post("/environments/new/", post)
    (row,) = page.context["form"]["tools"].items
    assert "Name at least one" in str(row.by_slug["who"].errors)
    post |= {"tools-0-who-0": "ada", "tools-0-who-1": "", "tools-0-who-2": "grace@example.com"}
    client.post("/environments/new/", post)
    (tool,) = Environment.objects.get().spec.connections
    assert tool.authorized_users == ("ada", "grace@example.com")


@pytest.mark.parametrize(
    ("changes", "document"),
    [
        ({}, {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.1}),
        ({"gpu_request": "100"}, {"gpuDevicesRequest": 1}),
        ({"gpu_devices": "4", "gpu_request": "100"}, {"gpuDevicesRequest": 4}),
        ({"gpu_devices": "0", "gpu_request": "100"}, {}),
        ({"gpu_devices": "", "gpu_request": ""}, {}),
        (
            {"gpu_unit": "G", "gpu_request": "1.5", "gpu_limit": "4"},
            {
                "gpuDevicesRequest": 1,
                "gpuRequestType": "memory",
                "gpuMemoryRequest": "1.5G",
                "gpuMemoryLimit": "4G",
            },
        ),
        (
            {"gpu_devices": "0", "gpu_request": "", "cpu_request": "250", "cpu_unit": "millicores"},
            {"cpuCoreRequest": 0.25},
        ),
        (
            {"gpu_devices": "0", "gpu_request": "", "memory_request": "2", "memory_unit": "Gi"},
            {"cpuMemoryRequest": "2Gi"},
        ),
        (
            {"gpu_devices": "0", "gpu_request": "", "large_shm": "on", "cpu_limit": "2"},
            {"cpuCoreLimit": 2.0, "largeShmRequest": True},
        ),
        (
            {
                "gpu_devices": "0",
                "gpu_request": "",
                **rows("extended", {"resource": "rdma/rdma", "quantity": "1"}),
            },
            {"extendedResources": [{"resource": "rdma/rdma", "quantity": "1"}]},
        ),
    ],
)
def test_amounts_become_the_documents_quantities(
    changes: dict[str, Any], document: dict[str, Any]
) -> None:
    project = ProjectFactory()
    client = signed_in(UserFactory(administrator=True))
    response = client.post("/compute-resources/new/", posts.compute(project, **changes))
    assert response.status_code == 302
    assert documents.without_defaults(ComputeResource.objects.get().spec_json, Compute) == document


@pytest.mark.parametrize(
    ("prefix", "slug"), [("environments", "environment"), ("compute-resources", "compute")]
)
def test_the_wizard_is_told_which_asset_it_got(prefix: str, slug: str) -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    client = signed_in(user)
    address = f"/{prefix}/new/?project={project.pk}&drawer=1&slot=worker"
    form = client.get(address, **DRAWER)
    assert "<html" not in form.content.decode()
    assert form.context["form"]["scope"].value == f"project:{project.pk}"
    assert form.context["form"]["cluster"].value == str(project.cluster_id)
    post = posts.environment(project) if slug == "environment" else posts.compute(project)
    response = client.post(address, post, **DRAWER)
    assert response.status_code == 204
    told = json.loads(response["HX-Trigger"])
    made = (Environment if slug == "environment" else ComputeResource).objects.get()
    assert told["asset-created"] == {"kind": slug, "id": str(made.pk), "slot": "worker"}
    assert "drawer-close" in told
    assert "was created" in told["toasts"]["shown"][0]["text"]


def test_without_a_script_the_browser_goes_back_with_the_asset() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    address = f"/environments/new/?project={project.pk}&slot=worker&next=/workloads/new/abc/?step=2"
    response = signed_in(user).post(address, posts.environment(project))
    made = Environment.objects.get()
    assert response["Location"] == f"/workloads/new/abc/?step=2&environment={made.pk}&slot=worker"


def test_next_leads_nowhere_else() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    response = signed_in(user).post(
        "/environments/new/?next=https://evil.example/", posts.environment(project)
    )
    assert response["Location"] == f"/environments/{Environment.objects.get().pk}/"


def test_researchers_create_in_their_projects_only() -> None:
    user = UserFactory()
    mine = ProjectFactory(members=[user])
    other = ProjectFactory()
    client = signed_in(user)
    for scope in (f"project:{other.pk}", f"cluster:{mine.cluster_id}", "nonsense"):
        response = client.post("/environments/new/", posts.environment(mine, scope=scope))
        assert response.status_code == 422
        assert "scope" in response.context["form"].errors
    assert not Environment.objects.exists()


@pytest.mark.parametrize("scope", ["cluster", "department"])
def test_administrators_create_for_many_projects(scope: str) -> None:
    project = ProjectFactory()
    holder = getattr(project, scope)
    post = posts.environment(project, scope=f"{scope}:{holder.pk}")
    signed_in(UserFactory(administrator=True)).post("/environments/new/", post)
    made = Environment.objects.get()
    assert (made.scope, getattr(made, scope), made.project) == (scope, holder, None)


@pytest.mark.parametrize("prefix", ["environments", "compute-resources", "data-sources"])
def test_a_person_in_no_project_sees_whom_to_ask(prefix: str) -> None:
    UserFactory(administrator=True, username="boss")
    response = signed_in(UserFactory()).get(f"/{prefix}/new/")
    assert response.status_code == 403
    sentence = f"You need the permission {prefix}.create for this. Ask boss for it."
    assert sentence in response.content.decode()


def test_a_scope_of_another_cluster_is_refused() -> None:
    project = ProjectFactory()
    other = ProjectFactory()
    post = posts.environment(project, scope=f"project:{other.pk}")
    response = signed_in(UserFactory(administrator=True)).post("/environments/new/", post)
    assert response.context["form"].errors["scope"] == [
        f"{other} belongs to the cluster {other.cluster}."
    ]


def test_a_name_is_taken_within_its_scope_alone() -> None:
    taken = EnvironmentFactory(name="pytorch-dt")
    client = signed_in(UserFactory(administrator=True))
    response = client.post("/environments/new/", posts.environment(taken.project))
    assert response.status_code == 422
    assert "already exists in" in response.context["form"].errors["name"][0]
    elsewhere = ProjectFactory(cluster=taken.cluster)
    assert client.post("/environments/new/", posts.environment(elsewhere)).status_code == 302


def test_without_a_script_spare_rows_take_what_is_added() -> None:
    project = ProjectFactory()
    client = signed_in(UserFactory(administrator=True))
    page = client.get("/environments/new/").content.decode()
    assert 'name="variables-2-name"' in page
    spare = rows(
        "variables", {"name": "A", "source": "value", "value": "1"}, *[{"source": "value"}] * 2
    )
    assert client.post("/environments/new/", posts.environment(project, **spare)).status_code == 302
    assert [v.name for v in Environment.objects.get().spec.environment_variables] == ["A"]
    assert "<noscript>" not in client.get("/environments/new/", **DRAWER).content.decode()
