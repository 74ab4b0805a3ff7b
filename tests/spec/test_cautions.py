"""Parts of GPUs and NCCL: said, not refused."""

from typing import Any

import pytest

from spec.cautions import cautions
from spec.formats import documents
from spec.framework import NCCL_CAUTION

PORTION = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
WHOLE = {"gpuDevicesRequest": 1}


@pytest.mark.parametrize(
    ("framework", "compute", "also", "told"),
    [
        ("PyTorch", PORTION, {}, True),
        ("PyTorch", PORTION, {"architecture": "workers_only"}, False),
        ("PyTorch", WHOLE, {}, False),
        ("XGBoost", PORTION, {}, False),
        ("MPI", PORTION, {"numWorkers": 2}, True),
    ],
)
def test_ranks_that_may_share_a_gpu(
    framework: str, compute: dict[str, Any], also: dict[str, Any], told: bool
) -> None:
    worker = {"image": "i", "compute": compute}
    spec = documents.load_spec({"distributedFramework": framework, "worker": worker, **also})
    assert (NCCL_CAUTION in cautions(spec)) == told


@pytest.mark.parametrize(
    ("gpus", "processes", "told"), [(2, 4, True), (2, 2, False), (0, 4, False)]
)
def test_processes_that_share_the_gpus_of_a_pod(gpus: int, processes: int, told: bool) -> None:
    worker = {"image": "i", "compute": {"gpuDevicesRequest": gpus}}
    gang = {"distributedFramework": "PyTorch", "processesPerPod": processes}
    sentences = cautions(documents.load_spec({**gang, "worker": worker}))
    assert [it for it in sentences if "4 processes per pod" in it] == list(sentences)
    assert bool(sentences) == told
