"""The quotas in node pools on the forms and pages of projects and departments."""

import pytest
from django.test import Client

from clusters.models import Cluster, NodePool
from projects.models import Department, Project
from tests.factories import ClusterFactory, ProjectFactory, UserFactory, WorkloadFactory
from tests.projects.pooled import cluster, project
from tests.projects.posts import project_form
from tests.web import signed_in
from workloads.models import Workload

__all__ = ["cluster", "project"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(db: None) -> Client:
    return signed_in(UserFactory(administrator=True))


def in_pool(pool: str, **values: str) -> dict[str, str]:
    blank = {"gpu_quota": "", "over_quota": "on", "rank": "medium-low"}
    return {
        f"pools-{pool}-{key}": value for key, value in (blank | values).items() if value != "off"
    }


def test_a_form_of_a_cluster_with_one_pool_speaks_of_no_pools(client: Client) -> None:
    page = client.get(f"/projects/{ProjectFactory().pk}/edit/").content.decode()
    assert "GPU quota" in page
    assert "Node pool " not in page
    assert "Max GPU allocation" in page


def test_a_form_sets_the_quotas_of_each_pool(client: Client, project: Project) -> None:
    path = f"/projects/{project.pk}/edit/"
    page = client.get(path).content.decode()
    assert 'name="pools-t4-gpu_quota"' in page
    posted = project_form(cluster=project.cluster, name="vision", gpu_limit="6")
    posted |= in_pool("a100", gpu_quota="8", gpu_limit="16", over_quota_weight="2", rank="high")
    posted |= in_pool("t4", memory_quota="64", over_quota="off")
    assert client.post(path, posted).status_code == 302
    project.refresh_from_db()
    assert (project.gpu_quota, project.gpu_limit, project.over_quota_weight) == (2, 6, 1)
    a100 = project.pool_quotas.get(pool__name="a100")
    assert (a100.gpu_quota, a100.gpu_limit, a100.over_quota_weight) == (8, 16, 2)
    assert (a100.over_quota, a100.rank) == (True, "high")
    t4 = project.pool_quotas.get(pool__name="t4")
    assert (t4.gpu_quota, t4.memory_quota, t4.over_quota) == (0, 64_000_000_000, False)
    page = client.get(path).content.decode()
    assert "8 GPUs, at most 16" in page


def test_a_saved_form_without_changes_makes_no_quotas(client: Client, project: Project) -> None:
    posted = project_form(cluster=project.cluster, name="vision") | in_pool("a100") | in_pool("t4")
    assert client.post(f"/projects/{project.pk}/edit/", posted).status_code == 302
    assert not project.pool_quotas.exists()


def test_a_post_without_pools_keeps_their_quotas(client: Client, project: Project) -> None:
    """As of a page that was opened before the cluster had pools."""
    project.pool_quotas.create(pool=NodePool.objects.get(name="t4"), gpu_quota=8)
    posted = project_form(cluster=project.cluster, name="vision")
    client.post(f"/projects/{project.pk}/edit/", posted)
    assert project.pool_quotas.get().gpu_quota == 8


def test_a_new_project_of_a_known_cluster_has_quotas_in_its_pools(
    client: Client, cluster: Cluster
) -> None:
    page = client.get("/projects/new/").content.decode()
    assert 'name="pools-a100-gpu_quota"' in page, "there is only one cluster"
    other = ClusterFactory()
    page = client.get("/projects/new/").content.decode()
    assert "its form has those in the other pools" in page
    assert 'name="pools-a100-gpu_quota"' not in page
    page = client.get(f"/projects/new/?cluster={cluster.pk}").content.decode()
    assert 'name="pools-a100-gpu_quota"' in page
    posted = project_form(cluster=cluster) | in_pool("a100", gpu_quota="8")
    client.post("/projects/new/", posted)
    assert Project.objects.get().pool_quotas.get().gpu_quota == 8
    posted = project_form(cluster=other, name="other") | in_pool("a100", gpu_quota="8")
    client.post("/projects/new/", posted)
    assert not Project.objects.get(name="other").pool_quotas.exists()


def test_a_bad_quota_of_a_pool_is_shown_in_it(client: Client, project: Project) -> None:
    posted = project_form(cluster=project.cluster, name="vision", gpu_limit="1")
    posted |= in_pool("a100", gpu_quota="many")
    response = client.post(f"/projects/{project.pk}/edit/", posted)
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {"pools-a100-gpu_quota"}
    posted |= in_pool("a100", gpu_quota="8", gpu_limit="4")
    response = client.post(f"/projects/{project.pk}/edit/", posted)
    assert set(response.context["form"].errors) == {"gpu_limit"}
    weightless = posted | {"gpu_limit": "", "over_quota_weight": "0"}
    response = client.post(f"/projects/{project.pk}/edit/", weightless)
    assert set(response.context["form"].errors) == {"over_quota_weight"}
    posted["gpu_limit"] = ""
    page = client.post(f"/projects/{project.pk}/edit/", posted).content.decode()
    assert "a100, Max GPU allocation: Enter at least the GPU quota, 8." in page
    assert not project.pool_quotas.exists()


def test_a_department_has_quotas_in_pools(client: Client, project: Project) -> None:
    department = project.department
    path = f"/departments/{department.pk}/edit/"
    posted = {"cluster": str(department.cluster_id), "name": department.name, "over_quota": "on"}
    posted |= in_pool("a100", gpu_quota="8", over_quota_weight="3")
    assert client.post(path, posted).status_code == 302
    row = Department.objects.get().pool_quotas.get()
    assert (row.gpu_quota, row.cpu_quota, row.over_quota_weight) == (8, None, 3)
    assert "8 GPUs" in client.get(path).content.decode()


def test_pages_show_the_bars_of_each_pool(client: Client, project: Project) -> None:
    a100 = NodePool.objects.get(name="a100")
    project.pool_quotas.create(pool=a100, gpu_quota=8)
    other = ProjectFactory(cluster=project.cluster, department=project.department)
    WorkloadFactory(project=project, running=True, gpus=2, pool=a100)
    WorkloadFactory(project=other, running=True, gpus=3, pool=a100)
    page = client.get(f"/projects/{project.pk}/").content.decode()
    assert "2 of 8 deserved" in page
    assert "0 of 4 deserved" in page
    assert page.index("Node pool default") < page.index("Node pool a100")
    assert "3</strong> lent" in page
    page = client.get(f"/departments/{project.department_id}/edit/").content.decode()
    assert "5 of 8 deserved" in page


def test_a_workload_says_in_which_pool_it_counts(client: Client, project: Project) -> None:
    pool = NodePool.objects.get(name="t4")
    workload = WorkloadFactory(project=project, running=True, pool=pool)
    page = client.get(workload.get_absolute_url()).content.decode()
    assert "Counts in the node pool t4" in page
    Workload.objects.update(pool=None)
    assert "Counts in" not in client.get(workload.get_absolute_url()).content.decode()


def test_pages_of_one_pool_show_bars_as_before(client: Client) -> None:
    page = client.get(f"/projects/{ProjectFactory(gpu_quota=4).pk}/").content.decode()
    assert "0 of 4 deserved" in page
    assert "Node pool default" not in page
