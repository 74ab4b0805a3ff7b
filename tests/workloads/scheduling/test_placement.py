"""Placement is pure, and gives no device twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats import documents
from spec.workload import WorkloadSpec
from workloads.scheduling.placement import (
    Room,
    Shape,
    place_shape,
    shortages_of_gang,
    shortages_of_shape,
)

MEMORY = 16 * 10**9


def spec(portion: float | None, devices: int, workers: int) -> WorkloadSpec:
    compute = {"gpuDevicesRequest": devices, "cpuCoreRequest": 0.1}
    if portion:
        compute = {
            "gpuDevicesRequest": 1,
            "gpuRequestType": "portion",  # type: ignore[dict-item]
            "gpuPortionRequest": portion,
        }
    return documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": "workers_only",
            "numWorkers": workers,
            "worker": {"image": "x:1", "compute": compute},
        }
    )


free = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), max_size=5)
asked = st.tuples(
    st.sampled_from([None, 0.1, 0.25, 0.5, 1.0]), st.integers(0, 3), st.integers(1, 6)
)


@given(free=free, asked=asked)
def test_no_device_is_given_away_twice(
    free: list[float], asked: tuple[float | None, int, int]
) -> None:
    wanted = spec(*asked)
    room = Room(64, 10**12, dict(enumerate(free)))
    placement = place_shape(Shape.of(wanted, MEMORY), room)
    why = shortages_of_gang(wanted, room, device_memory=MEMORY)
    assert (placement is None) == bool(why), "it fits, or there are reasons"
    if placement is None:
        return
    assert sorted(placement) == [pod.rank for pod in wanted.pods]
    portion = asked[0] or 1.0
    for device, there in room.gpus.items():
        taken = sum(portion for devices in placement.values() if device in devices)
        assert taken <= there + 1e-6
    for pod in wanted.pods:
        devices = placement[pod.rank]
        assert len(devices) == len(set(devices)) == pod.replica.compute.gpu_devices_request


def test_portions_leave_whole_devices_free() -> None:
    room = Room(8, 10**10, {0: 1.0, 1: 0.5})
    assert place_shape(Shape.of(spec(0.5, 1, 1), MEMORY), room) == {0: (1,)}


def test_a_placement_counts_cpu_and_memory_too() -> None:
    room = Room(0.05, 10**10, {0: 1.0})
    assert place_shape(Shape.of(spec(None, 1, 1), MEMORY), room) is None
    assert "CPU cores" in shortages_of_gang(spec(None, 1, 1), room, device_memory=MEMORY)[0]


@pytest.mark.parametrize(
    ("memory", "said"), [(5_770 * 10**9, "5,770 GB"), (224 * 10**9, "224 GB"), (10**8, "0.1 GB")]
)
def test_memory_is_said_in_digits_however_much_it_is(memory: int, said: str) -> None:
    (reason,) = shortages_of_shape(Shape(1.0, memory, ()), Room(1.0, 0), 0.0)
    assert reason == f"{said} of memory requested, 0 GB free"
