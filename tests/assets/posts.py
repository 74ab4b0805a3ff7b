"""Valid posts of asset pages, and the kinds of assets with their factories."""

from typing import Any

from projects.models import Project
from tests.factories import ComputeResourceFactory, EnvironmentFactory, TemplateFactory

FACTORIES: dict[str, Any] = {
    "environments": EnvironmentFactory,
    "compute-resources": ComputeResourceFactory,
    "templates": TemplateFactory,
}


def rows(prefix: str, *items: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a formset, as a browser posts them."""
    found: dict[str, Any] = {
        f"{prefix}-TOTAL_FORMS": len(items),
        f"{prefix}-INITIAL_FORMS": 0,
    }
    for index, item in enumerate(items):
        found |= {f"{prefix}-{index}-{key}": value for key, value in item.items()}
    return found


def place(project: Project) -> dict[str, Any]:
    """Return the fields that say where an asset belongs: to the project."""
    return {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}


def environment(project: Project, **changes: Any) -> dict[str, Any]:
    """Return the post of an environment. Only name and image are entered; the rest is as the form
    shows it."""
    return {
        **place(project),
        "name": "pytorch-dt",
        "image": "kubeflow/pytorch-dist-mnist:latest",
        "image_pull_policy": "IfNotPresent",
        "architecture": "distributed",
        "uid_gid_source": "fromTheImage",
        **rows("variables"),
        **rows("tools"),
        **changes,
    }


def compute(project: Project, **changes: Any) -> dict[str, Any]:
    """Return the post of a compute resource with a tenth of one GPU."""
    return {
        **place(project),
        "name": "small-fraction",
        "gpu_devices": "1",
        "gpu_request": "10",
        "gpu_unit": "%",
        "cpu_request": "0.1",
        "cpu_unit": "cores",
        "memory_request": "100",
        "memory_unit": "M",
        **rows("extended"),
        **changes,
    }
