"""Calls about policies, by NVIDIA's client."""

from importlib import import_module
from typing import Any

from projects.models import Project
from tests.policies.examples import EVERYTHING
from tests.runapy.conftest import RunaiCaller

models: Any = import_module("runai.models")
#: What Run:ai has too: the rest of the example, for workers and for one pod.
WORKER = EVERYTHING["defaults"]["worker"]
DEFAULTS = {key: value for key, value in WORKER.items() if key != "backoffLimit"}
LIMITS = {
    "compute": {"gpuDevicesRequest": {"min": 0, "max": 8}, "cpuMemoryRequest": {"max": "64G"}},
    "workingDir": {"options": [{"value": "/work", "displayed": "The work folder"}]},
    "storage": {"hostPath": {"instances": {"canAdd": False}}},
}
TREES: dict[str, dict[str, Any]] = {
    "distributed": {"defaults": {"worker": DEFAULTS}, "rules": {"worker": LIMITS}},
    "training": {"defaults": DEFAULTS, "rules": LIMITS},
    "workspace": {"defaults": DEFAULTS, "rules": LIMITS},
}


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    for kind, tree in TREES.items():
        _of_kind(runai, kind, tree, project)


def _of_kind(runai: RunaiCaller, kind: str, tree: dict[str, Any], project: Project) -> None:
    model = f"{kind.title()}Policy"
    answer = f"{model}V2"
    its = f"PolicyApi.{{}}_{kind}_policy{{}}"
    meta = {"name": "limits", "scope": "project", "projectId": project.pk}
    whole = getattr(models, f"{model}OverwriteRequestV2")
    request = {
        f"{kind}_policy_overwrite_request_v2": whole.model_validate({"meta": meta, "policy": tree})
    }
    made = runai(its.format("overwrite", "_v2"), takes=answer, **request)
    sent = request[f"{kind}_policy_overwrite_request_v2"].policy.to_dict()
    assert {key: made["policy"][key] for key in tree} == {key: sent[key] for key in tree}
    field = "worker.workingDir" if kind == "distributed" else "workingDir"
    part = getattr(models, f"{model}ChangeRequestV2")
    change = {
        f"{kind}_policy_change_request_v2": part.model_validate({"meta": meta, "reset": [field]})
    }
    changed = runai(its.format("update", "_v2"), takes=answer, **change)
    assert "workingDir" not in str(changed["policy"]["rules"])
    place: dict[str, Any] = {"scope": "project", "project_id": str(project.pk)}
    read = runai(its.format("get", "_v2"), takes=answer, **place)
    assert read["policy"] == changed["policy"]
    listed = runai("PolicyApi.list_policies", workload_type=kind, takes="PolicyListResponse")
    assert [row["meta"]["name"] for row in listed["policies"]] == ["limits"]
    runai(its.format("delete", ""), approve_cluster_deletion=True, **place)
