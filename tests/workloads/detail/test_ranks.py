"""The ranks of a workload, one a line."""

import pytest
from django.test import Client

from assets.compute.card import devices_words
from spec.parts.compute import Compute
from workloads.models import Rank, Workload


def test_a_rank_names_its_gpu_and_its_share(client: Client, workload: Workload) -> None:
    Rank.objects.filter(workload=workload, rank=0).update(gpu_devices=[0], node="here")
    page = client.get(f"/workloads/{workload.pk}/ranks/").content.decode()
    assert "GPU 0 (10 %)" in page


@pytest.mark.parametrize(
    ("devices", "asked", "words"),
    [
        ([2], {"gpuDevicesRequest": 1}, "GPU 2"),
        ([0, 1], {"gpuDevicesRequest": 2}, "GPUs 0, 1"),
        (
            [3],
            {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "4G"},
            "GPU 3 (4 GB)",
        ),
    ],
)
def test_gpus_are_named_with_what_of_them_is_had(
    devices: list[int], asked: dict[str, object], words: str
) -> None:
    assert devices_words(devices, Compute.model_validate(asked)) == words
