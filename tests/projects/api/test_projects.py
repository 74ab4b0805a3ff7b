"""REST: projects, which their members see and administrators keep, in Run:ai's words."""

from typing import Any

import pytest

from clusters.models import Cluster
from projects.models import Project
from tests.caller import Caller
from tests.factories import (
    ClusterFactory,
    DepartmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)

pytestmark = pytest.mark.django_db
PATH = "/org-unit/projects"
MEMORY = {"deserved": 64, "units": "GB", "limit": None, "overQuotaWeight": None}


@pytest.fixture
def admin_call() -> Caller:
    return Caller(UserFactory(administrator=True))


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory()


def new(cluster: Cluster, **also: Any) -> dict[str, Any]:
    return {"name": "vision", "clusterId": str(cluster.pk), "resources": []} | also


def quotas(project: Project) -> tuple[Any, ...]:
    project.refresh_from_db()
    return project.gpu_quota, project.cpu_quota, project.memory_quota


def test_a_project_is_created_by_rest_with_its_quota_and_members(
    admin_call: Caller, cluster: Cluster
) -> None:
    department = DepartmentFactory(cluster=cluster, name="research")
    member = UserFactory()
    gpu = {"deserved": 8, "limit": 8, "overQuotaWeight": None}
    body = new(
        cluster,
        parentId=str(department.pk),
        description="Images",
        overQuota=False,
        members=[member.username],
        defaultNodePools=["default"],
        enforceRunaiScheduler=True,
        schedulingRules=None,
        resources=[{"gpu": gpu, "cpu": None, "memory": MEMORY, "priority": "high"}],
    )
    status, made = admin_call("POST", PATH, body)
    assert status == 201, made
    project = Project.objects.get()
    assert quotas(project) == (8, None, 64_000_000_000)
    assert (made["parentId"], made["members"]) == (str(department.pk), [member.username])
    assert (made["rank"], made["defaultNodePools"]) == ("high", ["default"])
    assert made["gpu"] == {"deserved": 8, "limit": 8, "allocated": 0}
    assert made["totalResources"] == {"gpuQuota": 8, "cpuQuota": None, "memoryQuota": 64_000}
    assert Caller(member)("GET", f"{PATH}/{made['id']}")[1]["name"] == "vision"


def test_a_project_can_be_sent_back_as_it_was_answered(
    admin_call: Caller, cluster: Cluster
) -> None:
    _, made = admin_call(
        "POST", PATH, new(cluster, overQuota=False, resources=[{"memory": MEMORY}])
    )
    path = f"{PATH}/{made['id']}"
    again = {key: made[key] for key in ("resources", "members", "rank", "parentId", "overQuota")}
    status, answer = admin_call("PUT", path, again)
    assert status == 200, answer
    assert {**answer, "updatedAt": ""} == {**made, "updatedAt": ""}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "The Lab"}, "name"),
        ({"clusterId": "00000000-0000-0000-0000-000000000000"}, "clusterId"),
        ({"parentId": "999999"}, "parentId"),
        ({"members": ["nobody"]}, "members"),
        ({"rank": "first"}, "rank"),
        ({"defaultNodePools": ["moon"]}, "defaultNodePools"),
        (
            {"schedulingRules": {"trainingJobMaxIdleDurationSeconds": 299}},
            "schedulingRules.trainingJobMaxIdleDurationSeconds",
        ),
        ({"nodeTypes": {"training": ["dgx"]}}, "nodeTypes.training"),
        ({"nodeTypes": {"names": {"dgx": "DGX"}}}, "nodeTypes.names"),
        ({"enforceRunaiScheduler": False}, "enforceRunaiScheduler"),
        ({"resources": [{"nodePool": {"id": "7"}}]}, "resources.0.nodePool"),
        ({"resources": [{"gpu": {"deserved": 3, "limit": 1}}]}, "resources.0.gpu.limit"),
        ({"resources": [{"gpu": {"overQuotaWeight": 1e6}}]}, "resources.0.gpu.overQuotaWeight"),
        (
            {"overQuota": False, "resources": [{"gpu": {"overQuotaWeight": 2}}]},
            "resources.0.gpu.overQuotaWeight",
        ),
        ({"resources": [{"cpu": {"overQuotaWeight": 2}}]}, "resources.0.cpu.overQuotaWeight"),
        ({"parent": "1"}, "parent"),
    ],
)
def test_creating_a_project_by_rest_names_what_is_wrong(
    admin_call: Caller, cluster: Cluster, change: dict[str, Any], field: str
) -> None:
    status, answer = admin_call("POST", PATH, new(cluster) | change)
    assert (status, [issue["field"] for issue in answer["complianceIssues"]]) == (400, [field])
    assert not Project.objects.exists()


def test_a_line_break_around_a_name_is_no_part_of_it(admin_call: Caller, cluster: Cluster) -> None:
    """Namespaces, queues and batch scripts have the name in them."""
    status, made = admin_call("POST", PATH, new(cluster) | {"name": "vision\n"})
    assert (status, made["name"]) == (201, "vision")
    assert admin_call("PUT", f"{PATH}/{made['id']}", {"name": "speech\n"})[1]["name"] == "speech"
    of_cluster = {"name": "research\n", "clusterId": str(cluster.pk)}
    status, made = admin_call("POST", "/org-unit/departments", of_cluster)
    assert (status, made["name"]) == (201, "research")
    one = f"/org-unit/departments/{made['id']}"
    assert admin_call("PUT", one, {"name": "science\n"})[1]["name"] == "science"


def test_a_project_updated_by_rest_changes_only_in_what_is_given(
    admin_call: Caller, cluster: Cluster
) -> None:
    member = UserFactory()
    project = ProjectFactory(cluster=cluster, gpu_quota=8, cpu_quota=4, members=[member])
    path = f"{PATH}/{project.pk}"
    status, answer = admin_call("PUT", path, {"name": "renamed", "overQuota": False})
    assert (status, answer["name"], answer["overQuota"]) == (200, "renamed", False)
    assert (quotas(project), answer["members"]) == ((8, 4, None), [member.username])
    assert admin_call("PATCH", f"{path}/resources", [{"cpu": {"deserved": 2}}])[0] == 200
    assert quotas(project) == (8, 2, None)
    assert admin_call("PUT", f"{path}/resources", [{"gpu": {"deserved": 3}}])[0] == 200
    assert quotas(project) == (3, None, None)
    assert admin_call("PUT", path, {"members": []})[1]["members"] == []
    ProjectFactory(cluster=cluster, name="taken")
    assert admin_call("PUT", path, {"name": "taken"})[0] == 409


def test_a_project_is_deleted_by_rest_once_its_workloads_are(admin_call: Caller) -> None:
    workload = WorkloadFactory(name="mnist", completed=True)
    path = f"{PATH}/{workload.project_id}"
    status, answer = admin_call("DELETE", path)
    assert (status, "mnist" in answer["message"]) == (409, True)
    workload.delete()
    assert admin_call("DELETE", path)[0] == 204
    assert admin_call("GET", path)[0] == 404


def test_members_see_their_project_and_change_nothing_of_it(call: Caller, cluster: Cluster) -> None:
    project = ProjectFactory(cluster=cluster, members=[call.user])
    path = f"{PATH}/{project.pk}"
    assert call("GET", path)[0] == 200
    for method, where, body in (
        ("POST", PATH, new(cluster)),
        ("PUT", path, {"name": "mine"}),
        ("PATCH", f"{path}/resources", []),
        ("DELETE", path, None),
    ):
        assert call(method, where, body)[0] == 403, (method, where)


def test_projects_are_found_sorted_and_counted(admin_call: Caller, cluster: Cluster) -> None:
    department = DepartmentFactory(cluster=cluster, name="research")
    for name, quota in (("alpha", 1), ("beta", 8), ("gamma", 4)):
        ProjectFactory(cluster=cluster, name=name, gpu_quota=quota, department=department)
    ProjectFactory(name="elsewhere")
    mine = f"filterBy=clusterId=={cluster.pk}"

    def names(query: str) -> list[str]:
        return [it["name"] for it in admin_call("GET", f"{PATH}?{query}")[1]["projects"]]

    assert names(f"{mine}&sortBy=totalGpuQuota&sortOrder=desc") == ["beta", "gamma", "alpha"]
    assert names(f"{mine}&filterBy=totalGpuQuota>=4") == ["beta", "gamma"]
    assert names("filterBy=parentName==research,name=@ph") == ["alpha"]
    assert names("search=else") == ["elsewhere"]
    assert admin_call("GET", f"{PATH}/count?{mine}")[1] == {"count": 3}
