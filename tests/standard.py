"""What the row of a standard training has that the row of a distributed one has not."""

from typing import Any

from factory.declarations import LazyFunction

from spec import documents

SPEC = {"kind": "training", "worker": {"image": "kubeflow/pytorch-dist-mnist:latest"}}
STANDARD: dict[str, Any] = {
    "kind": "training",
    "framework": "",
    "architecture": "standard",
    "spec_json": LazyFunction(lambda: documents.dump(documents.load(SPEC))),
}
