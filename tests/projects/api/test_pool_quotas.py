"""REST: the quotas of projects and departments in each node pool."""

from typing import Any

import pytest

from audit.models import AuditEntry
from clusters.models import Cluster, NodePool
from projects.models import Department, Project
from tests.caller import Caller
from tests.factories import DepartmentFactory, ProjectFactory, UserFactory
from tests.projects.pooled import cluster, project

__all__ = ["cluster", "project"]

pytestmark = pytest.mark.django_db
PROJECTS = "/org-unit/projects"
DEPARTMENTS = "/org-unit/departments"
A100 = {"nodePool": {"name": "a100"}}


@pytest.fixture
def call() -> Caller:
    return Caller(UserFactory(administrator=True))


def resources(answer: Any, pool: str) -> Any:
    (found,) = [it for it in answer["resources"] if it["nodePool"]["name"] == pool]
    return found


def test_a_new_pool_is_in_every_project_with_nothing_deserved(
    call: Caller, project: Project
) -> None:
    _, answer = call("GET", f"{PROJECTS}/{project.pk}")
    assert [it["nodePool"]["name"] for it in answer["resources"]] == ["default", "a100", "t4"]
    assert resources(answer, "t4") == {
        "nodePool": {"id": str(NodePool.objects.get(name="t4").pk), "name": "t4"},
        "gpu": {"deserved": 0, "limit": None, "overQuotaWeight": 1},
        "cpu": {"deserved": None, "limit": None, "overQuotaWeight": None},
        "memory": {"deserved": None, "limit": None, "overQuotaWeight": None, "units": "MB"},
        "priority": "medium-low",
    }


def test_a_project_gets_quotas_in_its_pools(call: Caller, cluster: Cluster) -> None:
    a100 = {
        **A100,
        "gpu": {"deserved": 8, "limit": 16, "overQuotaWeight": 2},
        "memory": {"deserved": 64, "units": "GB"},
        "priority": "high",
    }
    t4 = {
        "nodePool": {"id": str(NodePool.objects.get(name="t4").pk)},
        "gpu": {"deserved": 2, "limit": 2, "overQuotaWeight": 0},
    }
    body = {
        "name": "vision",
        "clusterId": str(cluster.pk),
        "resources": [{"gpu": {"deserved": 1, "limit": 3}}, a100, t4],
    }
    status, answer = call("POST", PROJECTS, body)
    assert status == 201, answer
    assert resources(answer, "default")["gpu"] == {
        "deserved": 1,
        "limit": 3,
        "overQuotaWeight": 1,
    }
    assert resources(answer, "a100")["gpu"] == a100["gpu"]
    assert resources(answer, "a100")["memory"]["deserved"] == 64_000
    assert resources(answer, "a100")["priority"] == "high"
    assert resources(answer, "t4")["gpu"] == t4["gpu"]
    assert (answer["rank"], answer["overQuota"]) == ("medium-low", True)
    assert answer["totalResources"]["gpuQuota"] == 11
    assert answer["gpu"] == {"deserved": 11, "limit": 21, "allocated": 0}
    path = f"{PROJECTS}/{answer['id']}/resources"
    assert call("PUT", path, answer["resources"])[1]["resources"] == answer["resources"]


def test_a_change_keeps_other_pools_and_a_replacement_does_not(
    call: Caller, project: Project
) -> None:
    path = f"{PROJECTS}/{project.pk}/resources"
    call("PATCH", path, [{**A100, "gpu": {"deserved": 8, "overQuotaWeight": 3}}])
    _, answer = call("PATCH", path, [{**A100, "cpu": {"deserved": 64}}, {"gpu": {"deserved": 2}}])
    assert resources(answer, "a100")["gpu"] == {
        "deserved": 8,
        "limit": None,
        "overQuotaWeight": 3,
    }
    assert resources(answer, "a100")["cpu"]["deserved"] == 64
    assert resources(answer, "default")["gpu"]["deserved"] == 2
    _, answer = call("PUT", path, [{"gpu": {"deserved": 5}}])
    assert resources(answer, "a100")["gpu"]["deserved"] == 0
    assert resources(answer, "a100")["cpu"]["deserved"] is None
    assert resources(answer, "default")["gpu"]["deserved"] == 5


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"nodePool": {"name": "moon"}}, "nodePool"),
        ({"nodePool": {"id": "999999"}}, "nodePool"),
        ({"nodePool": {"id": "default", "name": "a100"}}, "nodePool"),
        ({**A100, "gpu": {"deserved": 8, "limit": 4}}, "gpu.limit"),
        ({**A100, "gpu": {"deserved": 8, "limit": 9, "overQuotaWeight": 0}}, "gpu.limit"),
        ({**A100, "cpu": {"deserved": 8, "limit": 8}}, "cpu.limit"),
        ({**A100, "memory": {"overQuotaWeight": 1}}, "memory.overQuotaWeight"),
        ({**A100, "gpu": {"deserved": -1}}, "gpu.deserved"),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_bad_quota_is_named(
    call: Caller, project: Project, method: str, item: dict[str, Any], field: str
) -> None:
    body = [{"gpu": {"deserved": 1}}, item]
    status, answer = call(method, f"{PROJECTS}/{project.pk}/resources", body)
    (issue,) = answer["complianceIssues"]
    assert (status, issue["field"].removeprefix("resources.")) == (400, f"1.{field}")
    project.refresh_from_db()
    assert project.gpu_quota == 4
    assert not project.pool_quotas.exists()


def test_a_pool_is_named_once(call: Caller, project: Project) -> None:
    path = f"{PROJECTS}/{project.pk}/resources"
    status, answer = call("PATCH", path, [{**A100, "gpu": {"deserved": 1}}, A100])
    (issue,) = answer["complianceIssues"]
    assert (status, issue["field"]) == (400, "resources.1.nodePool")


def test_a_department_has_the_sum_of_its_projects_in_each_pool(
    call: Caller, project: Project, cluster: Cluster
) -> None:
    path = f"{DEPARTMENTS}/{project.department_id}"
    call("PATCH", f"{PROJECTS}/{project.pk}/resources", [{**A100, "gpu": {"deserved": 8}}])
    _, answer = call("GET", path)
    assert (answer["gpu"]["deserved"], answer["projectsGpuQuota"]) == (12, 12)
    assert resources(answer, "a100")["gpu"]["deserved"] is None
    gpu = {"deserved": 6, "limit": 7, "overQuotaWeight": 2}
    _, answer = call("PUT", f"{path}/resources", [{**A100, "gpu": gpu}])
    assert resources(answer, "a100")["gpu"] == gpu
    assert answer["gpu"]["deserved"] == 10
    assert "in the node pool a100 sum to 8 GPUs where the department has 6" in answer["warning"]


def test_lists_are_sorted_by_all_gpus(call: Caller, project: Project, cluster: Cluster) -> None:
    other = ProjectFactory(cluster=cluster, name="audio", gpu_quota=5)
    call("PATCH", f"{PROJECTS}/{project.pk}/resources", [{**A100, "gpu": {"deserved": 8}}])
    _, answer = call("GET", f"{PROJECTS}?sortBy=totalGpuQuota&sortOrder=desc")
    assert [it["name"] for it in answer["projects"]] == ["vision", other.name]
    _, answer = call("GET", f"{PROJECTS}?filterBy=totalGpuQuota>=12")
    assert [it["name"] for it in answer["projects"]] == ["vision"]


def test_a_change_of_a_pool_is_audited(call: Caller, project: Project) -> None:
    path = f"{PROJECTS}/{project.pk}/resources"
    call("PATCH", path, [{**A100, "gpu": {"deserved": 8, "limit": 9}}])
    entry = AuditEntry.objects.get(verb="update", target_name="vision")
    assert entry.after["pools.a100.gpu_quota"] == 8
    assert entry.after["pools.a100.gpu_limit"] == 9
    assert "gpu_quota" not in entry.after, "the default pool did not change"


def test_quotas_of_a_pool_go_with_it(project: Project) -> None:
    pool = NodePool.objects.get(name="a100")
    project.pool_quotas.create(pool=pool, gpu_quota=8)
    Department.objects.get(pk=project.department_id).pool_quotas.create(pool=pool)
    pool.delete()
    assert not project.pool_quotas.exists()


def test_new_departments_have_quotas_in_pools(call: Caller, cluster: Cluster) -> None:
    DepartmentFactory(cluster=cluster)
    gpu = {"deserved": 8, "limit": 8, "overQuotaWeight": 0}
    body = {
        "name": "research",
        "clusterId": str(cluster.pk),
        "resources": [{**A100, "gpu": gpu}],
    }
    status, answer = call("POST", DEPARTMENTS, body)
    assert status == 201, answer
    assert resources(answer, "a100")["gpu"] == gpu
    assert resources(answer, "default")["gpu"]["deserved"] is None
