"""Which GPUs of this machine can be used."""

import threading
from pathlib import Path

import psutil
import pynvml
import pytest

from engines.findings import Level
from engines.local.system import nvidia
from tests.engines.local.system.driver import GIB, FakeDevice, FakeDriver, supported


def test_devices_are_those_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver(FakeDevice(), FakeDevice("NVIDIA L4", 24 * GIB)).install(monkeypatch)
    found = nvidia.devices()
    assert [(it.index, it.model, it.memory) for it in found.gpus] == [
        (0, "NVIDIA H100 80GB HBM3", 80 * GIB),
        (1, "NVIDIA L4", 24 * GIB),
    ]
    assert found.findings == ()
    assert driver.open == 0  # nothing keeps the driver awake


def test_a_device_without_memory_of_its_own_has_the_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    FakeDriver(FakeDevice("NVIDIA GB10", total=None, mig=None)).install(monkeypatch)
    (gpu,) = nvidia.devices().gpus
    assert gpu.memory == psutil.virtual_memory().total


def test_lost_devices_and_those_in_mig_mode_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = FakeDevice(error=pynvml.NVML_ERROR_GPU_IS_LOST)
    FakeDriver(FakeDevice(), lost, FakeDevice(mig=1), FakeDevice()).install(monkeypatch)
    found = nvidia.devices()
    assert [gpu.index for gpu in found.gpus] == [0, 3]
    named = {it.name: (it.level, it.text) for it in found.findings}
    assert named["GPU 1"][0] is Level.ISSUE
    assert "GPU is lost" in named["GPU 1"][1]
    assert named["GPU 2"][0] is Level.WARNING
    assert "nvidia-smi -i 2 -mig 0" in named["GPU 2"][1]


def test_devices_are_known_by_number_unless_another_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FakeDriver(FakeDevice(), FakeDevice(), FakeDevice()).install(monkeypatch)
    assert nvidia.cuda_names([0, 2]) == {0: "0", 2: "2"}
    driver.devices[1].error = pynvml.NVML_ERROR_GPU_IS_LOST
    assert nvidia.cuda_names([0, 2]) == {0: "GPU-0", 2: "GPU-2"}
    driver.error = pynvml.NVML_ERROR_DRIVER_NOT_LOADED  # it fails for good
    monkeypatch.setattr(nvidia, "has_card", lambda: True)
    assert nvidia.cuda_names([0, 2]) == {0: "0", 2: "2"}


def test_a_driver_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    found = nvidia.devices()
    assert found.gpus == ()
    (finding,) = found.findings
    assert (finding.name, finding.level) == ("NVIDIA driver", Level.ISSUE)
    assert "version mismatch" in finding.text


def test_a_driver_that_fails_while_it_is_asked_is_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: supported(None))
    (finding,) = nvidia.devices().findings
    assert "Not Supported" in finding.text
    assert driver.open == 0


@pytest.mark.parametrize("vendor", ["0x10de", "0x8086"])
def test_a_library_without_a_driver_is_a_fault_with_a_card(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, vendor: str
) -> None:
    (tmp_path / "0000:01:00.0").mkdir()
    (tmp_path / "0000:01:00.0" / "vendor").write_text(f"{vendor}\n")
    monkeypatch.setattr(nvidia, "PCI", tmp_path)
    FakeDriver().install(monkeypatch).error = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert bool(nvidia.devices().findings) == (vendor == nvidia.VENDOR)


@pytest.mark.parametrize("has_card", [True, False])
def test_a_driver_without_devices_is_a_fault_with_a_card(
    monkeypatch: pytest.MonkeyPatch, has_card: bool
) -> None:
    FakeDriver().install(monkeypatch)
    monkeypatch.setattr(nvidia, "has_card", lambda: has_card)
    found = nvidia.devices()
    assert found.gpus == ()
    assert ["finds no device" in it.text for it in found.findings] == [True] * has_card


def test_an_unexpected_error_is_shown_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def garbled(device: FakeDevice) -> str:
        return b"\xff".decode()

    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", garbled)
    (finding,) = nvidia.devices().findings
    assert "UnicodeDecodeError: 'utf-8' codec can't decode" in finding.text
    assert "no answer" not in finding.text
    assert caplog.records[0].exc_info
    assert driver.open == 0


def test_no_thread_for_the_driver_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    (finding,) = nvidia.devices().findings
    assert "can't start new thread" in finding.text


def test_a_driver_that_does_not_answer_keeps_nobody_waiting_and_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.hangs = threading.Event()
    monkeypatch.setattr(nvidia, "PATIENCE", 0.05)
    try:
        for _ in range(3):
            (finding,) = nvidia.devices().findings
            assert "no answer within" in finding.text
        (thread,) = [it for it in threading.enumerate() if it.name == "GPUs"]
    finally:
        driver.hangs.set()
    thread.join(10)
    assert nvidia.devices().gpus  # the next one asks anew


def test_the_newest_sample_tells_the_share_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FakeDevice(used=3 * GIB, busy=70, held={11: GIB, 12: None}, shares={11: 40})
    FakeDriver(device).install(monkeypatch)
    with nvidia.open_driver() as nvml:
        reading = nvidia.read_gpu(nvml, 0)
    assert reading == nvidia.GpuReading(70.0, 3 * GIB, {11: 40.0}, {11: GIB, 12: None})


def test_an_old_driver_leaves_out_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(device: FakeDevice) -> None:
        raise pynvml.NVMLLibraryMismatchError("this driver is too old")

    FakeDriver(FakeDevice(busy=7)).install(monkeypatch)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetComputeRunningProcesses", unknown)
    with nvidia.open_driver() as nvml:
        reading = nvidia.read_gpu(nvml, 0)
    assert (reading.utilization, reading.process_memory) == (7.0, None)


def test_a_device_leaves_out_what_it_does_not_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeDriver(FakeDevice(total=None, busy=None, shares=None)).install(monkeypatch)
    with nvidia.open_driver() as nvml:
        reading = nvidia.read_gpu(nvml, 0)
    assert reading == nvidia.GpuReading(None, None, None, {})


@pytest.mark.parametrize(
    ("function", "error", "left"),
    [
        (
            "nvmlDeviceGetProcessUtilization",
            pynvml.NVML_ERROR_NO_PERMISSION,
            nvidia.GpuReading(50.0, GIB, None, {11: GIB}),
        ),
        (
            "nvmlDeviceGetComputeRunningProcesses",
            pynvml.NVML_ERROR_INSUFFICIENT_SIZE,
            nvidia.GpuReading(50.0, GIB, {11: 5.0}, None),
        ),
        (
            "nvmlDeviceGetUtilizationRates",
            pynvml.NVML_ERROR_UNKNOWN,
            nvidia.GpuReading(None, GIB, {11: 5.0}, {11: GIB}),
        ),
    ],
)
def test_a_question_that_fails_leaves_the_others_answered(
    monkeypatch: pytest.MonkeyPatch, function: str, error: int, left: nvidia.GpuReading
) -> None:
    def refuse(*about: object) -> None:
        raise pynvml.NVMLError(error)

    FakeDriver(FakeDevice(held={11: GIB}, shares={11: 5})).install(monkeypatch)
    monkeypatch.setattr(pynvml, function, refuse)
    with nvidia.open_driver() as nvml:
        assert nvidia.read_gpu(nvml, 0) == left


@pytest.mark.parametrize("error", [pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_UNINITIALIZED])
def test_a_device_that_is_gone_is_not_read_in_part(
    monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def gone(*about: object) -> None:
        raise pynvml.NVMLError(error)

    FakeDriver(FakeDevice()).install(monkeypatch)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUtilizationRates", gone)
    with nvidia.open_driver() as nvml, pytest.raises(nvidia.DriverError):
        nvidia.read_gpu(nvml, 0)


def test_a_driver_without_the_second_version_of_memory_tells_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FakeDriver(FakeDevice(used=3 * GIB)).install(monkeypatch)

    def first(device: FakeDevice, version: int | None = None) -> object:
        if version is not None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        return driver.nvmlDeviceGetMemoryInfo(device)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", first)
    with nvidia.open_driver() as nvml:
        assert nvidia.read_gpu(nvml, 0).memory == 3 * GIB
