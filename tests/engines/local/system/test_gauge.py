"""What ranks use of their GPUs."""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pynvml
import pytest

from engines.base import Launch, UsageSample
from engines.local.system import gauge, processes
from engines.local.system.gauge import Gauge, GpuUsage
from spec.parts.compute import Compute, GpuRequestType
from tests.engines.local.conftest import LocalRig
from tests.engines.local.gangs import started_gang
from tests.engines.local.system.driver import GIB, FakeDevice, FakeDriver
from tests.waiting import wait_for

OURS = 11
OTHERS = 12
MEASURED = "the first reading"


@pytest.fixture(autouse=True)
def _one_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauge, "sees_driver_pids", lambda: True)


@contextmanager
def measuring(*devices: int, shared: Collection[int] = (0,)) -> Iterator[Gauge]:
    measure = Gauge(devices, shared=shared)
    measure.open()
    try:
        wait_for(lambda: measure._readings, message=MEASURED)
        yield measure
    finally:
        measure.close()


def used(measure: Gauge, *devices: int, shares: bool = False) -> GpuUsage:
    return measure.usage(devices, {OURS}, shares=shares)


def test_several_devices_are_a_mean_and_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = FakeDevice(busy=90, used=3 * GIB), FakeDevice(busy=60, used=2 * GIB), FakeDevice()
    driver = FakeDriver(*devices).install(monkeypatch)
    with measuring(0, 1) as measure:
        assert used(measure, 0, 1) == GpuUsage(75.0, 5 * GIB)
    assert driver.open == 0


def test_a_part_of_a_device_is_what_its_own_processes_do(monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[int, int | None] = {OURS: GIB, OTHERS: 4 * GIB}
    device = FakeDevice(busy=90, used=6 * GIB, held=held, shares={OURS: 20, OTHERS: 70})
    FakeDriver(device).install(monkeypatch)
    with measuring(0) as measure:
        assert used(measure, 0, shares=True) == GpuUsage(20.0, GIB)
        assert used(measure, 0) == GpuUsage(90.0, 6 * GIB)
        assert measure.usage([0], {99}, shares=True) == GpuUsage(0.0, 0)


def test_process_shares_are_not_read_on_a_device_of_one_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FakeDriver(FakeDevice(busy=90), FakeDevice(shares={OURS: 5})).install(monkeypatch)
    with measuring(0, 1, shared=[1]) as measure:
        assert used(measure, 0).utilization == 90.0
        assert used(measure, 1, shares=True).utilization == 5.0
    assert driver.devices[0] not in driver.asked_for_shares
    assert driver.devices[1] in driver.asked_for_shares


def test_processes_that_cannot_be_told_apart_are_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gauge, "sees_driver_pids", lambda: False)
    device = FakeDevice(held={OTHERS: GIB}, shares={OTHERS: 70})
    FakeDriver(device).install(monkeypatch)
    with measuring(0) as measure:
        assert used(measure, 0, shares=True) == GpuUsage()


def test_memory_that_the_driver_keeps_to_itself_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    FakeDriver(FakeDevice(held={OURS: None}, shares=None)).install(monkeypatch)
    with measuring(0) as measure:
        assert used(measure, 0, shares=True) == GpuUsage()


def test_a_device_with_the_machines_memory_is_measured_by_its_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    FakeDriver(FakeDevice(total=None, busy=30, held={OURS: GIB})).install(monkeypatch)
    with measuring(0) as measure:
        assert used(measure, 0) == GpuUsage(30.0, GIB)


def test_a_lost_device_is_told_once_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lost = FakeDevice(error=pynvml.NVML_ERROR_GPU_IS_LOST)
    FakeDriver(FakeDevice(busy=40), lost).install(monkeypatch)
    monkeypatch.setattr(gauge, "EVERY", 0.001)
    with caplog.at_level(logging.WARNING), measuring(0, 1) as measure:
        first = measure._read_at
        wait_for(lambda: measure._read_at > first, message="another reading")
        assert used(measure, 0, 1) == GpuUsage()  # no mean or sum of both
        assert used(measure, 0) == GpuUsage(40.0, GIB)
        said = [it for it in caplog.messages if "GPU 1 is not measured" in it]
        assert len(said) == 1
        lost.error = None
        wait_for(lambda: "The use of GPU 1 is measured again" in caplog.messages)


def test_an_old_reading_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeDriver(FakeDevice()).install(monkeypatch)
    with measuring(0) as measure:
        monkeypatch.setattr(gauge, "STALE", -1.0)
        assert used(measure, 0) == GpuUsage()


def test_without_a_driver_it_says_so_once_and_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    FakeDriver().install(monkeypatch).error = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    measure = Gauge([0])
    with caplog.at_level(logging.WARNING):
        measure.open()
        measure.join(10)
    assert not measure.is_alive()
    assert len(caplog.messages) == 1
    assert used(measure, 0) == GpuUsage()


def test_a_driver_that_fails_at_first_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver = FakeDriver(FakeDevice(busy=40)).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_UNKNOWN
    monkeypatch.setattr(gauge, "RETRY", 0.001)
    measure = Gauge([0])
    with caplog.at_level(logging.WARNING):
        measure.open()
        wait_for(lambda: caplog.messages, message="the fault")
        driver.error = None
        wait_for(lambda: measure._readings, message=MEASURED)
        assert used(measure, 0).utilization == 40.0
        measure.close()
    assert caplog.messages == ["The use of GPUs is not measured: Unknown Error"]


def test_an_unexpected_error_of_the_gauge_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unknown() -> None:
        raise pynvml.NVMLLibraryMismatchError("another library")

    FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(pynvml, "nvmlInit", unknown)
    measure = Gauge([0])
    with caplog.at_level(logging.WARNING):
        measure.open()
        measure.join(10)
    assert caplog.messages == ["The use of GPUs is not measured any more"]
    assert "another library" in caplog.text


def with_gpu(launched: Launch, portion: float) -> Launch:
    """The launch, whose worker has the first device or a part of it."""
    part = {"gpu_request_type": GpuRequestType.PORTION, "gpu_portion_request": portion}
    compute = Compute(gpu_devices_request=1, **part if portion < 1 else {})
    worker = launched.spec.worker.model_copy(update={"compute": compute})
    spec = launched.spec.model_copy(update={"worker": worker})
    return replace(launched, spec=spec, gpus={1: (0,)})


@pytest.mark.parametrize(("portion", "expected"), [(1.0, (90.0, 6 * GIB)), (0.5, (20.0, GIB))])
def test_samples_of_ranks_have_what_they_use_of_their_gpus(
    rig: LocalRig,
    monkeypatch: pytest.MonkeyPatch,
    portion: float,
    expected: tuple[float, int],
) -> None:
    device = FakeDevice(busy=90, used=6 * GIB)
    FakeDriver(device).install(monkeypatch)
    launched = with_gpu(rig.endless(), portion)
    with started_gang(rig, launched) as (gang, tending):
        pid = next(it.process.pid for it in gang.running if it.plan.rank == 1)
        device.held = {pid: GIB, OTHERS: GIB}
        device.shares = {pid: 20, OTHERS: 70}

        def measured() -> list[UsageSample]:
            tending.tick()
            samples = rig.engine.usage(launched.handle, run=1, after=None)
            return [it for it in samples if (it.gpu, it.gpu_memory) == expected]

        found = wait_for(measured, 30, "a sample with GPUs")
        others = [it for it in rig.engine.usage(launched.handle, run=1, after=None) if not it.rank]
    assert {it.rank for it in found} == {1}
    assert {(it.gpu, it.gpu_memory) for it in others} == {(None, None)}
    assert not gang.gauge.is_alive()


def test_ranks_run_unmeasured_where_no_thread_can_start(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: Gauge) -> None:
        raise RuntimeError("can't start new thread")

    FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(Gauge, "start", refuse)
    with (
        caplog.at_level(logging.WARNING),
        started_gang(rig, with_gpu(rig.endless(), 1.0)) as (gang, _),
    ):
        assert len(gang.running) == 2
        assert gang.gauge.usage([0], {OURS}, shares=False) == GpuUsage()
    assert caplog.messages == ["The use of GPUs is not measured: can't start new thread"]


@pytest.mark.parametrize(("lost", "seen"), [(False, "0"), (True, "GPU-0")])
def test_a_rank_gets_its_device_by_a_name_that_cuda_cannot_mistake(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch, lost: bool, seen: str
) -> None:
    other = FakeDevice(error=pynvml.NVML_ERROR_GPU_IS_LOST if lost else None)
    FakeDriver(FakeDevice(), other).install(monkeypatch)
    with started_gang(rig, with_gpu(rig.endless(), 1.0)) as (gang, _):
        variables = [
            processes.read_environment(psutil.Process(it.process.pid)) for it in gang.members
        ]
    assert [it["CUDA_VISIBLE_DEVICES"] for it in variables] == ["", seen]
