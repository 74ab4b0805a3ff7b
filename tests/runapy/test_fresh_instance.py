"""NVIDIA's client reads every list of an instance with the demo data."""

from typing import Any

import pytest
from runai import models

from assets.models import Environment
from projects.models import Project
from spec.formats import documents
from tests.factories import WorkloadFactory, workload_spec
from tests.runapy.conftest import RunaiCaller
from workloads import demo

LISTS = {
    "EnvironmentApi.list_environment_assets": "EnvironmentListResponse",
    "ComputeApi.list_compute_assets": "ComputeListResponse",
    "DatasourcesApi.list_datasource_assets": "DatasourceListResponse",
    "CredentialsApi.list_credentials_assets": "CredentialsListResponse",
    "WorkloadTemplatesApi.list_templates1": "TemplatesListResponse",
    "WorkloadsApi.get_workloads": "GetWorkloads200Response",
    "ProjectsApi.get_projects": "",
    "DepartmentsApi.get_departments": "GetDepartments200Response",
    "ClustersApi.get_clusters": "DisplayedCluster",
    "NodesApi.get_tenant_nodes": "Nodes",
    "PodsApi.list_pods": "ListPods200Response",
}


@pytest.fixture
def fresh(runai: RunaiCaller, project: Project) -> Project:
    """The project of the demo data."""
    cluster = project.cluster
    department = project.department
    project.delete()
    demo.make(cluster, department)
    return Project.objects.get(name=demo.TEAM)


def test_the_client_accepts_every_list(runai: RunaiCaller, fresh: Project) -> None:
    for number, framework in enumerate(models.DistributedFramework):
        spec = documents.dump_spec(workload_spec()) | {"distributedFramework": framework.value}
        WorkloadFactory(project=fresh, name=f"w{number}", framework=framework, spec_json=spec)
    for name, model in LISTS.items():
        entries = runai(name, takes=model)
        assert entries, name


@pytest.mark.usefixtures("fresh")
def test_the_client_reads_what_its_models_know_of_an_environment(runai: RunaiCaller) -> None:
    listed = runai("EnvironmentApi.list_environment_assets")["entries"]
    by_name: dict[str, Any] = {it["meta"]["name"]: it for it in listed}
    assert len(by_name) == Environment.objects.count()
    types = by_name["jax"]["meta"]["workloadSupportedTypes"]
    assert (types["distributed"], types["distFramework"]) == (True, None)
    assert by_name["jupyter-lab"]["spec"]["connections"] == []
    one = by_name["jupyter-lab"]["meta"]["id"]
    runai("EnvironmentApi.get_environment_asset_by_id", one, takes="EnvironmentAsset")


def test_the_client_accepts_a_folder_on_the_disk_of_the_node(
    runai: RunaiCaller, project: Project
) -> None:
    folder = {"path": "/scratch", "sizeLimit": "1Gi"}
    body = {
        "name": "train",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": {
            "image": "kubeflow/pytorch-dist-mnist:latest",
            "storage": {"emptyDirVolume": [folder]},
        },
    }
    request = models.TrainingCreationRequest.model_validate(body)
    made = runai("TrainingsApi.create_training1", request, takes="Training1")
    (volume,) = made["spec"]["storage"]["emptyDirVolume"]
    assert "medium" not in volume
