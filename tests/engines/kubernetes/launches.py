"""Launches that differ from a case in a field or two."""

from dataclasses import replace
from typing import Any

from engines.base import Launch
from spec.formats import documents
from spec.workload import Architecture
from tests.engines.kubernetes.cases import SIMPLE, case

ONE = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}


def with_spec(launched: Launch, *, worker: dict[str, Any], **whole: Any) -> Launch:
    """The same with these wire-named fields."""
    document = documents.dump(launched.spec) | whole
    document["worker"] = document["worker"] | worker
    return replace(launched, spec=documents.load(document))


def loaded(**document: Any) -> Launch:
    full = {"distributedFramework": "PyTorch", "worker": SIMPLE} | document
    return replace(case("pytorch"), spec=documents.load(full))
