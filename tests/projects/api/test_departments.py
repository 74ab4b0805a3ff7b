"""REST: departments, which administrators alone keep."""

from typing import Any

import pytest
from django.test import Client

from clusters.models import Cluster
from projects.models import Department
from tests.caller import Caller
from tests.factories import (
    ClusterFactory,
    DepartmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)

pytestmark = pytest.mark.django_db
PATH = "/org-unit/departments"


@pytest.fixture
def admin_call() -> Caller:
    return Caller(UserFactory(administrator=True))


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory()


def new(cluster: Cluster, **also: Any) -> dict[str, Any]:
    return {"name": "research", "clusterId": str(cluster.pk)} | also


def own(department: Department) -> tuple[Any, ...]:
    department.refresh_from_db()
    return department.gpu_quota, department.cpu_quota, department.memory_quota


def test_a_department_is_created_by_rest_with_its_quota(
    admin_call: Caller, cluster: Cluster
) -> None:
    memory = {"deserved": 1.5, "units": "GB"}
    resources = [{"gpu": {"deserved": 8}, "memory": memory}]
    body = new(cluster, overQuota=False, resources=resources)
    status, answer = admin_call("POST", PATH, body)
    department = Department.objects.get()
    assert (status, answer["id"], answer["name"]) == (201, str(department.pk), "research")
    assert own(department) == (8, None, 1_500_000_000)
    assert answer["gpu"] == {"deserved": 8, "limit": 8, "allocated": 0}
    no_bound = {"deserved": None, "limit": None, "allocated": 0}
    assert answer["cpu"] == no_bound, "nor have projects that are not there"
    assert answer["resources"] == [
        {
            "nodePool": {"id": "default", "name": "default"},
            "gpu": {"deserved": 8, "limit": 8, "overQuotaWeight": 0},
            "cpu": {"deserved": None, "limit": None, "overQuotaWeight": None},
            "memory": {"deserved": 1500, "limit": 1500, "overQuotaWeight": None, "units": "MB"},
            "priority": None,
        }
    ]
    status, answer = admin_call("POST", PATH, new(cluster, name="plain"))
    assert (status, answer["overQuota"], answer["gpu"]["limit"]) == (201, True, None)
    assert own(Department.objects.get(name="plain")) == (None, None, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "The Lab"}, "name"),
        ({"name": ""}, "name"),
        ({"clusterId": "00000000-0000-0000-0000-000000000000"}, "clusterId"),
        ({"resources": [{"gpu": {"deserved": -1}}]}, "resources.0.gpu.deserved"),
        ({"resources": [{"memory": {"deserved": 1e300}}]}, "resources.0.memory.deserved"),
        ({"resources": [{"memory": {"units": "TB"}}]}, "resources.0.memory.units"),
        ({"resources": [{"cpu": {"limit": 3}}]}, "resources.0.cpu.limit"),
        ({"resources": [{"gpu": {"deserved": 4, "limit": 3}}]}, "resources.0.gpu.limit"),
        ({"resources": [{}, {}]}, "resources.1.nodePool"),
        ({"parentId": "1"}, "parentId"),
    ],
)
def test_creating_a_department_by_rest_names_what_is_wrong(
    admin_call: Caller, cluster: Cluster, change: dict[str, Any], field: str
) -> None:
    status, answer = admin_call("POST", PATH, new(cluster) | change)
    assert (status, [issue["field"] for issue in answer["complianceIssues"]]) == (400, [field])
    assert not Department.objects.exists()


def test_a_department_updated_by_rest_changes_only_in_what_is_given(
    admin_call: Caller, cluster: Cluster
) -> None:
    department = DepartmentFactory(cluster=cluster, gpu_quota=8, cpu_quota=4)
    path = f"{PATH}/{department.pk}"
    status, answer = admin_call("PUT", path, {"name": "renamed", "overQuota": False})
    assert (status, answer["name"], answer["overQuota"]) == (200, "renamed", False)
    assert own(department) == (8, 4, None)
    assert admin_call("PATCH", f"{path}/resources", [{"cpu": {"deserved": 2}}])[0] == 200
    assert own(department) == (8, 2, None)
    assert admin_call("PATCH", f"{path}/resources", [{"gpu": {"deserved": None}}])[0] == 200
    assert own(department) == (None, 2, None)
    assert admin_call("PUT", f"{path}/resources", [{"gpu": {"deserved": 3}}])[0] == 200
    assert own(department) == (3, None, None)
    _, answer = admin_call("GET", path)
    assert admin_call("PUT", path, {"resources": answer["resources"]})[0] == 200
    assert own(department) == (3, None, None)
    assert admin_call("PUT", path, {"resources": []})[0] == 200
    assert own(department) == (None, None, None)
    DepartmentFactory(cluster=cluster, name="taken")
    assert admin_call("PUT", path, {"name": "taken"})[0] == 409
    department.refresh_from_db()
    assert department.name == "renamed"


def test_the_list_tells_use_and_overbooking(admin_call: Caller, cluster: Cluster) -> None:
    department = DepartmentFactory(cluster=cluster, name="research", gpu_quota=5)
    for _ in range(2):
        project = ProjectFactory(cluster=cluster, department=department)
        WorkloadFactory(running=True, project=project, gpus=0.5)
    DepartmentFactory(cluster=cluster, name="zoology")
    _, answer = admin_call("GET", f"{PATH}?limit=1")
    (found,) = answer["departments"]
    assert answer["next"] == 1
    assert (found["projects"], found["projectsGpuQuota"]) == (2, 8)
    assert found["gpu"] == {"deserved": 5, "limit": None, "allocated": 1}
    assert found["cpu"]["deserved"] is None
    assert "sum to 8 GPUs where the department has 5" in found["warning"]
    assert [it["name"] for it in admin_call("GET", f"{PATH}?offset=1")[1]["departments"]] == [
        "zoology"
    ]


def test_a_department_is_deleted_by_rest_once_its_projects_are(admin_call: Caller) -> None:
    project = ProjectFactory(name="vision")
    path = f"{PATH}/{project.department_id}"
    status, answer = admin_call("DELETE", path)
    assert (status, "vision" in answer["message"]) == (409, True)
    project.delete()
    assert admin_call("DELETE", path)[0] == 204
    assert admin_call("DELETE", path)[0] == 404


def test_departments_by_rest_are_for_administrators(call: Caller, cluster: Cluster) -> None:
    department = DepartmentFactory(cluster=cluster)
    ProjectFactory(cluster=cluster, department=department, members=[call.user])
    path = f"{PATH}/{department.pk}"
    for method, where, body in (
        ("GET", PATH, None),
        ("POST", PATH, new(cluster)),
        ("GET", path, None),
        ("PUT", path, {"name": "mine"}),
        ("DELETE", path, None),
        ("PUT", f"{path}/resources", []),
        ("PATCH", f"{path}/resources", []),
        ("GET", f"{PATH}/{department.pk + 1}", None),
    ):
        assert call(method, where, body)[0] == 403, (method, where)
    assert Department.objects.get().name == department.name


def test_the_description_says_what_each_call_does() -> None:
    paths = Client().get("/api/v1/openapi.json").json()["paths"]
    ours = paths["/api/v1/org-unit/departments/{department_id}/resources"]
    assert "does not change" in ours["patch"]["description"]
    assert "sum of its projects" in ours["put"]["description"]
