"""NVIDIA's client runapy drives the operations that docs/api.md says it does.

It parses nothing by itself, so each answer is given to the model that its package has for it; each
request is one of its models, with what that sends by default.
"""

import re
from importlib import import_module
from typing import Any

from config.run.install import ROOT
from projects.models import Project
from spec.phases import Phase
from tests.clusters.kubeconfigs import reached
from tests.runapy import (
    credentials,
    manifests,
    notifications,
    people,
    policies,
    templates,
    workloads,
)
from tests.runapy.conftest import RunaiCaller
from tests.runapy.kinds import KINDS, ClientKind
from workloads.models import Workload

models: Any = import_module("runai.models")  # which exports all its names implicitly

IMAGE = "kubeflow/pytorch-dist-mnist:latest"
DISTRIBUTED = {"image": IMAGE, "numWorkers": 2, "distributedFramework": "PyTorch"}
WALKS = (
    credentials.walk,
    workloads.walk,
    people.walk,
    policies.walk,
    templates.walk,
    manifests.walk,
    notifications.walk,
)
WORKLOADS = {
    "distributed": ("DistributedApi", "create_distributed", "DistributedWorkload"),
    "training": ("TrainingsApi", "create_training1", "Training1"),
    "workspace": ("WorkspacesApi", "create_workspace1", "Workspace1"),
}


def test_the_operations_of_the_table_work_and_no_others_are_in_it(
    runai: RunaiCaller, project: Project
) -> None:
    _access(runai)
    _clusters(runai, str(project.cluster_id))
    _departments(runai, str(project.cluster_id))
    _projects(runai, str(project.cluster_id))
    for kind in KINDS:
        _assets(runai, kind, project)
    for noun in WORKLOADS:
        _workloads(runai, noun, project)
    for walk in WALKS:
        walk(runai, project)
    table, _, _ = (ROOT / "docs" / "api.md").read_text().partition("\n## What answers")
    assert set(re.findall(r"`(\w+Api\.\w+)`", table)) == runai.works


def _access(runai: RunaiCaller) -> None:
    request = models.AccessKeyCreationRequest1(name="nightly")
    made = runai("AccessKeysApi.create_access_key1", request, takes="AccessKeyPostResponse")
    runai("AccessKeysApi.get_access_keys", takes="AccessKeys")
    runai("AccessKeysApi.get_access_key_by_id1", made["id"], takes="AccessKey1")
    renewed = runai(
        "AccessKeysApi.regenerate_access_key_secret",
        made["id"],
        takes="RegenerateAccessKeySecret200Response",
    )
    token = models.TokenRequest(
        grant_type="app_token", app_id=made["clientId"], app_secret=renewed["clientSecret"]
    )
    runai("TokensApi.grant_token", token, takes="TokenResponse")
    runai("AccessKeysApi.delete_access_key_by_id", made["id"])


def _clusters(runai: RunaiCaller, cluster: str) -> None:
    runai("ClustersApi.get_clusters", takes="DisplayedCluster")
    other = str(reached(name="other").pk)
    renamed = models.ClusterUpdateRequest(name="renamed")
    runai("ClustersApi.update_cluster", other, renamed, takes="DisplayedCluster")
    runai("ClustersApi.delete_cluster", other)
    runai("ClustersApi.get_cluster_by_uuid", cluster, takes="DisplayedCluster")
    runai("NodesApi.get_tenant_nodes", takes="Nodes")
    assert runai("NodesApi.count_tenant_nodes")["count"] == 1
    request = models.NodepoolCreateFields(
        name="fast", label_key="gpu", label_value="h100", cluster_id=cluster
    )
    made = runai("NodePoolsApi.create_nodepool", request, takes="Nodepool")
    runai("NodePoolsApi.get_nodepools", takes="GetNodepools200Response")
    runai("NodePoolsApi.get_nodepool", made["id"], takes="Nodepool")
    assert runai("NodePoolsApi.count_nodepools")["count"] == 2
    change = models.NodepoolUpdateFields(label_key="gpu", label_value="a100")
    runai("NodePoolsApi.update_nodepool", made["id"], change, takes="Nodepool")
    runai("NodePoolsApi.delete_nodepool", made["id"])


def _departments(runai: RunaiCaller, cluster: str) -> None:
    quotas = [_quota(4)]
    model = "DepartmentForList"
    request = models.DepartmentCreationRequest(name="science", cluster_id=cluster, resources=quotas)
    made = runai("DepartmentsApi.create_department", request, takes=model)
    runai("DepartmentsApi.get_departments", takes="GetDepartments200Response")
    runai("DepartmentsApi.get_department", made["id"], takes=model)
    found = runai("DepartmentsApi.count_departments", filter_by=["name==science"])
    assert found == {"count": 1}
    change = models.DepartmentUpdateRequest(resources=[_quota(2)])
    runai("DepartmentsApi.update_department", made["id"], change, takes=model)
    runai("DepartmentsApi.update_department_resources", made["id"], quotas, takes=model)
    runai("DepartmentsApi.patch_department_resources", made["id"], quotas, takes=model)
    runai("DepartmentsApi.delete_department", made["id"])


def _projects(runai: RunaiCaller, cluster: str) -> None:
    """The package has no model of a project as this call answers it; a department's has its
    fields."""
    quotas = [_quota(4)]
    model = "DepartmentForList"
    request = models.ProjectCreationRequest(name="audio", cluster_id=cluster, resources=quotas)
    made = runai("ProjectsApi.create_project", request, takes=model)
    named = runai("ProjectsApi.get_projects", filter_by=["name==audio", f"clusterId=={cluster}"])
    models.DepartmentForList.model_validate(named["projects"][0])
    assert [it["id"] for it in named["projects"]] == [made["id"]]
    runai("ProjectsApi.get_project", made["id"], takes=model)
    assert runai("ProjectsApi.count_projects", filter_by=["name==audio"]) == {"count": 1}
    change = models.ProjectUpdateRequest(description="Sound", resources=[_quota(2)])
    changed = runai("ProjectsApi.update_project", made["id"], change, takes=model)
    assert (changed["description"], changed["totalResources"]["gpuQuota"]) == ("Sound", 2)
    runai("ProjectsApi.update_project_resources", made["id"], quotas, takes=model)
    runai("ProjectsApi.patch_project_resources", made["id"], quotas, takes=model)
    runai("ProjectsApi.delete_project", made["id"])


def _quota(gpus: float) -> Any:
    return models.ResourcesNullable(gpu=models.NonNullResource(deserved=gpus))


def _assets(runai: RunaiCaller, kind: ClientKind, project: Project) -> None:
    name = kind.methods.replace("_", "-")
    meta = {
        "name": name,
        "description": "What it is for",
        "scope": "project",
        "projectId": project.pk,
    }
    create = getattr(models, f"{kind.request}CreationRequest")
    request = create.model_validate({"meta": meta, "spec": kind.spec})
    its = f"{kind.api}.{{}}_{kind.methods}{{}}"
    made = runai(its.format("create", ""), request, takes=kind.model)
    runai(f"{kind.api}.{kind.listed}", takes=kind.lists)
    if kind.below:
        every = runai("DatasourcesApi.list_datasource_assets", takes="DatasourceListResponse")
        (listed,) = every["entries"]
        assert listed["spec"][kind.below].keys() < listed["spec"].keys()
    runai(its.format("get", "_by_id"), made["meta"]["id"], takes=kind.model)
    update = getattr(models, f"{kind.request}UpdateRequest")
    spec = kind.update or kind.spec
    change = update.model_validate({"meta": {"name": f"{name}-2"}, "spec": spec})
    changed = runai(its.format("update", "_by_id"), made["meta"]["id"], change, takes=kind.model)
    assert changed["spec"].keys() == made["spec"].keys()
    runai(its.format("delete", "_by_id"), made["meta"]["id"])


def _workloads(runai: RunaiCaller, noun: str, project: Project) -> None:
    kind, create, model = WORKLOADS[noun]
    body: dict[str, Any] = {
        "name": f"a-{noun}",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": {"image": IMAGE},
    }
    if noun == "distributed":
        body |= {"spec": DISTRIBUTED, "masterSpecSameAsWorker": True}
    requested = {"distributed": "Distributed", "training": "Training", "workspace": "Workspace"}
    request = getattr(models, f"{requested[noun]}CreationRequest").model_validate(body)
    made = runai(f"{kind}.{create}", request, takes=model)["workloadId"]
    runai(f"{kind}.get_{noun}", made, takes=model)
    if noun == "distributed":
        runai("EventsApi.get_workload_events", made, takes="GetWorkloadEvents200Response")
        runai("PodsApi.get_workload_pods", made, takes="ListPods200Response")
        assert runai("WorkloadsApi.count_workloads")["count"] == 1
        batch = models.WorkloadBatch.model_validate({"ids": [made], "action": "suspend"})
        runai("WorkloadsBatchApi.batch_workloads", batch, takes="BatchResponse")
        Workload.objects.filter(pk=made).update(phase=Phase.RUNNING)
    runai(f"{kind}.suspend_{noun}", made)
    Workload.objects.filter(pk=made).update(phase=Phase.STOPPED)
    runai(f"{kind}.resume_{noun}", made)
    runai(f"{kind}.delete_{noun}", made)
