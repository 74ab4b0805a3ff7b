"""Launches that differ from a case in one or two fields."""

from dataclasses import replace
from typing import Any

from engines.base import Launch
from spec.formats import documents
from spec.workload import Architecture
from tests.engines.kubernetes.cases import SIMPLE, case

ONE = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}


def with_spec(launched: Launch, *, worker: dict[str, Any], **whole: Any) -> Launch:
    """Return the launch with these fields, which have their names in JSON."""
    document = documents.dump_spec(launched.spec) | whole
    document["worker"] = document["worker"] | worker
    return replace(launched, spec=documents.load_spec(document))


def loaded(**document: Any) -> Launch:
    """Return a launch of a PyTorch training with these fields."""
    full = {"distributedFramework": "PyTorch", "worker": SIMPLE} | document
    return replace(case("pytorch"), spec=documents.load_spec(full))
