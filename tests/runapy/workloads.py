"""Calls about workloads of all kinds, their pods and metrics, by NVIDIA's client."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from runai import models

from projects.models import Project
from spec.formats import documents
from tests.factories import WorkloadFactory, workload_spec
from tests.runapy.conftest import RunaiCaller
from workloads.history import events
from workloads.models import Workload


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    workload = WorkloadFactory(project=project, name="seen", running=True)
    events.record_phase(workload)
    now = timezone.now()
    for seconds in range(10, 50, 10):
        at = now - timedelta(seconds=seconds)
        values = {"cpu": 1.5, "memory": 1e9}
        workload.samples.create(kind="usage", run=1, rank=0, at=at, values=values)
    one = str(workload.pk)
    listed = runai("WorkloadsApi.get_workloads", search="seen", takes="GetWorkloads200Response")
    read = runai("WorkloadsApi.get_workload", one, takes="WorkloadDetailed")
    requested = read["workloadRequestedResources"]
    assert requested["cpu"] == {"request": workload.cpu_cores}
    assert requested["cpuMemory"] == {"request": str(workload.memory_bytes)}
    assert [it["departmentName"] for it in listed["workloads"]] == [project.department.name]
    runai("EventsApi.get_workload_history", one, takes="GetWorkloadHistory200Response")
    runai("PodsApi.list_pods", filter_by=[f"workloadId=={one}"], takes="ListPods200Response")
    assert runai("PodsApi.count_pods", search="seen")["count"] == workload.num_pods
    time: dict[str, Any] = {"start": now - timedelta(minutes=1), "end": now}
    names = ["CPU_USAGE_CORES", "CPU_MEMORY_USAGE_BYTES", "CPU_REQUEST_CORES"]
    used = runai(
        "WorkloadsApi.get_workload_metrics",
        one,
        [models.WorkloadMetricType(name) for name in names],
        number_of_samples=6,
        takes="MetricsResponse",
        **time,
    )
    assert [it["value"] for it in used["measurements"][0]["values"]] == ["1.5"] * 4
    pod = str(workload.ranks.get(rank=0).pk)
    cpu = [models.PodMetricType.CPU_USAGE_CORES]
    runai("PodsApi.get_workload_pod_metrics", one, pod, cpu, takes="MetricsResponse", **time)
    count = models.WorkloadTelemetryType.WORKLOADS_COUNT.value
    wanted: dict[str, Any] = {"group_by": ["Phase", "ProjectId"], "filter_by_phases": ["Running"]}
    told = runai("WorkloadsApi.get_workloads_telemetry", count, **wanted, takes="TelemetryResponse")
    assert [it["value"] for it in told["values"]] == ["1"]
    _numbers(runai, project)


def _numbers(runai: RunaiCaller, project: Project) -> None:
    """Make the calls about nodes, projects and departments."""
    cluster = str(project.cluster_id)
    answer = "TelemetryResponse"
    runai("OrgUnitApi.get_priorities", takes="GetPriorities200Response")
    runai("WorkloadPropertiesApi.get_workload_priorities", takes="GetWorkloadPriorities200Response")
    runai("StorageClassesApi.get_storage_classes", cluster, takes="StorageClasses1")
    nodes = "NodesApi.get_node_telemetry"
    counted = runai(nodes, "TOTAL_GPUS", group_by=["ClusterId", "Nodepool"], takes=answer)
    assert [it["groups"][1]["value"] for it in counted["values"]] == ["default"]
    assert runai("NodesApi.count_nodes", cluster)["count"] == 1
    for call in ("ProjectsApi.get_projects_telemetry", "DepartmentsApi.get_departments_telemetry"):
        runai(call, "GPU_QUOTA", group_by=["ClusterId"], takes=answer)
        held = runai(call, "CPU_ALLOCATION", cluster_id=cluster, takes=answer)
        assert float(held["values"][0]["value"]) > 0
    runai("StorageClassesApi.get_storage_classes_v2", cluster, takes="StorageClassesV2")
    _past(runai, project)
    types = "ListWorkloadTypes200Response"
    assert len(runai("WorkloadPropertiesApi.list_workload_types", takes=types)["types"]) == 3
    runai("WorkloadPropertiesApi.get_workload_type", "distributed", takes="WorkloadTypeConfig")
    WorkloadFactory(
        project=project, spec_json=documents.dump_spec(workload_spec()) | {"category": "Nightly"}
    )
    sorted_into = "ListCategories200Response"
    (one,) = runai("WorkloadPropertiesApi.list_categories", takes=sorted_into)["categories"]
    runai("WorkloadPropertiesApi.get_category_by_id", one["id"], takes="WorkloadCategory")
    pool = runai(
        "NodePoolsApi.create_nodepool",
        models.NodepoolCreateFields(
            name="slow", label_key="gpu", label_value="t4", cluster_id=cluster
        ),
    )
    change = models.NodepoolUpdateFields(label_value="p4")
    changed = runai("NodePoolsApi.patch_nodepool", pool["id"], change, takes="Nodepool")
    assert (changed["labelKey"], changed["labelValue"]) == ("gpu", "p4")


def _past(runai: RunaiCaller, project: Project) -> None:
    """Read what was allocated over time."""
    now = timezone.now()
    answer = "MetricsResponse"
    time: dict[str, Any] = {"start": now - timedelta(minutes=1), "end": now}
    held = [models.OrgUnitMetricType.CPU_ALLOCATION_MILLICORES]
    department = str(project.department_id)
    for call, pk in (("Project", str(project.pk)), ("Department", department)):
        name = f"{call}sApi.get_{call.lower()}_metrics"
        told = runai(name, pk, metric_type=held, number_of_samples=6, takes=answer, **time)
        assert float(told["measurements"][0]["values"][-1]["value"]) > 0
    _nodes(runai, project, time)
    gpus = [models.MetricsType.ALLOCATED_GPU]
    cluster = str(project.cluster_id)
    runai("ClustersApi.get_cluster_metrics", cluster, metric_type=gpus, takes=answer, **time)


def _nodes(runai: RunaiCaller, project: Project, time: dict[str, Any]) -> None:
    """Read what ranks used on nodes."""
    node = project.cluster.nodes.get()
    answer = "MetricsResponse"
    workload = Workload.objects.get(name="seen")
    started = time["start"] - timedelta(minutes=1)
    workload.ranks.filter(rank=0).update(node=node.name, started_at=started)
    cores = [models.NodeMetricType.CPU_USAGE_CORES]
    number = str(node.pk)
    used = runai("NodesApi.get_node_metrics", number, cores, takes=answer, **time)
    assert {it["value"] for it in used["measurements"][0]["values"]} == {"1.5"}
    share = [models.MetricsType.CPU_UTILIZATION]
    pool = (str(node.cluster_id), "default")
    name = "NodePoolsApi.get_nodepool_metrics"
    shared = runai(name, *pool, metric_type=share, takes=answer, **time)
    (percent,) = {it["value"] for it in shared["measurements"][0]["values"]}
    assert percent == f"{150 / node.cpu:g}"
