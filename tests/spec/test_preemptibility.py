"""What a workload is guaranteed by its preemptibility."""

from typing import Any

import pytest

from spec.formats import documents
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec

ELASTIC = {
    "distributedFramework": "PyTorch",
    "architecture": "workers_only",
    "numWorkers": 4,
    "minReplicas": 2,
}


def spec_of(preemptibility: str | None, **fields: Any) -> WorkloadSpec:
    worker = {"image": "x:1", "compute": {"gpuDevicesRequest": 1}}
    document = {**ELASTIC, "worker": worker, "preemptibility": preemptibility, **fields}
    return documents.load_spec(document)


@pytest.mark.parametrize(
    ("preemptibility", "gpus"),
    [(None, 0), ("preemptible", 0), ("semi-preemptible", 2), ("non-preemptible", 4)],
)
def test_the_guaranteed_part_depends_on_the_preemptibility(
    preemptibility: str | None, gpus: int
) -> None:
    part = spec_of(preemptibility).guaranteed_part
    assert (part.gpus() if part else 0) == gpus


def test_semi_preemptible_needs_a_minimum_of_workers() -> None:
    with pytest.raises(SpecError, match="set minReplicas"):
        spec_of("semi-preemptible", minReplicas=None)
