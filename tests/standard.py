"""What the row of a workload of one pod has that the row of a distributed one has not."""

from typing import Any

from factory.declarations import LazyFunction

from spec.formats import documents


def of_one_pod(kind: str) -> dict[str, Any]:
    spec = {"kind": kind, "worker": {"image": "kubeflow/pytorch-dist-mnist:latest"}}
    return {
        "kind": kind,
        "framework": "",
        "architecture": "standard",
        "spec_json": LazyFunction(lambda: documents.dump(documents.load(spec))),
    }


STANDARD, WORKSPACE = of_one_pod("training"), of_one_pod("workspace")
