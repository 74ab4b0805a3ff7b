"""Calls about templates of each kind of workload, by NVIDIA's client."""

from importlib import import_module
from typing import Any

from projects.models import Project
from tests.runapy.conftest import RunaiCaller

models: Any = import_module("runai.models")

IMAGE = "pytorch/pytorch:latest"
SPECS: dict[str, dict[str, Any]] = {
    "Distributed": {"image": IMAGE, "numWorkers": 2, "distributedFramework": "PyTorch"},
    "Training": {"image": IMAGE, "command": "python evaluate.py"},
    "Workspace": {"image": "jupyter/scipy-notebook:latest"},
}


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    for kind, spec in SPECS.items():
        _of(runai, kind, spec, project)


def _of(runai: RunaiCaller, kind: str, spec: dict[str, Any], project: Project) -> None:
    model = f"{kind}Template"
    its = f"WorkloadTemplatesApi.{{}}_{kind.lower()}_template{{}}"
    meta = {"name": f"base-{kind.lower()}", "scopeType": "project", "scopeId": str(project.pk)}
    request = getattr(models, f"{model}CreationRequest")
    body = request.model_validate({"meta": meta, "spec": spec})
    made = runai(its.format("create", ""), body, takes=model)["meta"]
    assert (made["workloadType"], made["projectId"]) == (kind, project.pk)
    one = made["id"]
    listed = runai(its.format("list", "s"), search="base", takes=f"{model}sListResponse")
    assert [it["meta"]["id"] for it in listed["entries"]] == [one]
    runai(its.format("get", ""), one, takes=model)
    change = getattr(models, f"{model}PatchRequest").model_validate(
        {"meta": {"name": made["name"]}, "spec": {"args": "-v"}, "fieldsToClear": ["spec.command"]}
    )
    changed = runai(its.format("patch", ""), one, change, takes=model)["spec"]
    assert (changed["image"], changed["args"]) == (spec["image"], "-v")
    assert "command" not in changed
    whole = getattr(models, f"{model}UpdateRequest").model_validate(
        {"meta": {"name": "renamed"}, "spec": spec}
    )
    replaced = runai(its.format("update", ""), one, whole, takes=model)
    assert "args" not in replaced["spec"]
    _among_all(runai, one, project)
    runai(its.format("delete", ""), one)


def _among_all(runai: RunaiCaller, one: str, project: Project) -> None:
    api = "WorkloadTemplatesApi"
    listed = runai(
        f"{api}.list_templates1", comply_to_project=project.pk, takes="TemplatesListResponse"
    )
    assert [(it["meta"]["id"], it["complianceIssues"]) for it in listed["entries"]] == [(one, [])]
    runai(f"{api}.get_template_by_id1", one, takes="SupersetTemplate")
    assert runai(f"{api}.count_templates", filter_by=["name==renamed"]) == {"count": 1}
    free = runai(f"{api}.template_name_availability", "renamed", "project", str(project.pk))
    assert free == {"available": False}
