"""Posts of project forms."""

from typing import Any

from tests.factories import ClusterFactory


def project_form(**changes: Any) -> dict[str, Any]:
    """Return a valid post of the form for a project, with changes on top."""
    cluster = changes.pop("cluster", None) or ClusterFactory()
    return {
        "cluster": str(cluster.pk),
        "department": "research",
        "name": "team-a",
        "description": "",
        "gpu_quota": "2",
        "cpu_quota": "",
        "memory_quota": "",
        "over_quota": "on",
        "rank": "medium-low",
        **changes,
    }
