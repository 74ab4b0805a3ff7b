"""Fields that differ in the row of a workload with one pod."""

from typing import Any

from factory.declarations import LazyFunction

from spec.formats import documents


def of_one_pod(kind: str) -> dict[str, Any]:
    """Return the fields of a standard training or a workspace."""
    spec = {"kind": kind, "worker": {"image": "kubeflow/pytorch-dist-mnist:latest"}}
    return {
        "kind": kind,
        "framework": "",
        "architecture": "standard",
        "spec_json": LazyFunction(lambda: documents.dump_spec(documents.load_spec(spec))),
    }


STANDARD = of_one_pod("training")
WORKSPACE = of_one_pod("workspace")
