"""The ranks of a workload, one a line."""

import pytest
from django.test import Client

from assets.compute.card import devices_words
from spec.parts.compute import Compute
from spec.phases import RankPhase
from spec.workload import Role
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


@pytest.fixture
def many(workload: Workload) -> Workload:
    """64 ranks on 8 nodes, of which rank 17 failed."""
    workload.ranks.all().delete()
    Rank.objects.bulk_create(
        Rank(
            workload=workload,
            rank=rank,
            role=Role.WORKER,
            index=rank,
            phase=RankPhase.FAILED if rank == 17 else RankPhase.RUNNING,
            node=f"node-{rank // 8}",
        )
        for rank in range(64)
    )
    return workload


@pytest.mark.parametrize(
    ("query", "ranks"),
    [
        ("", range(64)),
        ("phase=Failed", [17]),
        ("phase=Running&q=16-18", [16, 18]),
        ("q=0-3,8", [0, 1, 2, 3, 8]),
        ("q=NODE-2", range(16, 24)),
        ("q=worker-63", [63]),
        ("q=nowhere", []),
        ("phase=Melted", range(64)),
    ],
)
def test_ranks_are_filtered_by_phase_number_pod_and_node(
    client: Client, many: Workload, query: str, ranks: list[int]
) -> None:
    response = client.get(f"/workloads/{many.pk}/ranks/?{query}")
    assert [rank.rank for rank, *_ in response.context["rows"]] == [*ranks]
    assert ("No rank matches" in response.content.decode()) == (not ranks)


def test_phases_of_ranks_are_counted_and_their_pills_keep_the_text(
    client: Client, many: Workload
) -> None:
    page = client.get(f"/workloads/{many.pk}/ranks/?q=node-2").content.decode()
    assert all(label in page for label in (">All 8<", ">Running 7<", ">Failed 1<"))
    assert f"/workloads/{many.pk}/ranks/?phase=Failed&amp;q=node-2" in page
    alone = client.get(f"/workloads/{many.pk}/ranks/?phase=Failed").content.decode()
    assert f'hx-get="/workloads/{many.pk}/ranks/?phase=Failed" hx-trigger="live"' in alone
