"""A workload that names no node pools gets those of its project, and says so."""

import pytest

from clusters.models import NodePool
from projects.models import Project
from tests.caller import Body, Caller
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
CREATE = "/workloads/distributed"
POOLS = ["t4", "default"]


@pytest.fixture
def project(project: Project) -> Project:
    """On a cluster with node pools, two of which are its defaults."""
    cluster = project.cluster
    cluster.kind = "kubernetes"
    cluster.capabilities_json["schedulers"] = ["kai-scheduler"]
    cluster.save()
    for name in ("a100", "t4"):
        NodePool.objects.create(cluster=cluster, name=name, label_key="gpu", label_value=name)
    project.default_node_pools = POOLS
    project.save()
    return project


def test_a_project_tells_its_default_node_pools(project: Project, call: Caller) -> None:
    assert call("GET", f"/org-unit/projects/{project.pk}")[1]["defaultNodePools"] == POOLS
    assert call("GET", "/org-unit/projects")[1]["projects"][0]["defaultNodePools"] == POOLS


@pytest.mark.parametrize("given", [{}, {"nodePools": []}, {"nodePools": None}])
def test_a_request_without_node_pools_gets_the_defaults(
    project: Project, call: Caller, seed_body: Body, given: dict[str, object]
) -> None:
    body = seed_body()
    body["spec"] |= given
    status, answer = call("POST", CREATE, body)
    assert status == 202, answer
    assert answer["spec"]["nodePools"] == POOLS
    workload = Workload.objects.get()
    assert workload.origins_json["nodePools"] == f"project {project.name}"
    project.default_node_pools = []
    project.save()
    workload.refresh_from_db()
    assert workload.spec.node_pools == tuple(POOLS), "it keeps what it was created with"


def test_a_request_with_node_pools_keeps_its_own(
    project: Project, call: Caller, seed_body: Body
) -> None:
    body = seed_body()
    body["spec"]["nodePools"] = ["a100"]
    assert call("POST", CREATE, body)[1]["spec"]["nodePools"] == ["a100"]
    assert Workload.objects.get().origins_json["nodePools"] == "user"


def test_a_dry_run_shows_the_spec_with_them(
    project: Project, call: Caller, seed_body: Body
) -> None:
    body = seed_body()
    body["spec"]["environmentVariables"] = [{"name": "API_TOKEN", "value": "hush"}]
    status, answer = call("POST", f"{CREATE}?dryRun=true", body)
    assert (status, answer["valid"]) == (200, True), answer
    assert answer["spec"]["nodePools"] == POOLS
    assert answer["spec"]["numWorkers"] == 2
    assert "hush" not in str(answer)
    body["spec"]["numWorkers"] = -1
    assert call("POST", f"{CREATE}?dryRun=true", body)[1]["spec"] is None


def test_a_default_that_the_cluster_no_longer_has_is_refused_by_name(
    project: Project, call: Caller, seed_body: Body
) -> None:
    NodePool.objects.filter(name="t4").delete()
    status, answer = call("POST", CREATE, seed_body())
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "spec.nodePools"
    assert "t4" in answer["complianceIssues"][0]["details"]
