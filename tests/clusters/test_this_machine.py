"""The GPUs of this machine, as its cluster shows them."""

import pynvml
import pytest

from clusters import connections, services
from clusters.models import Cluster, State
from engines.local.system import machine
from tests.engines.local.system.driver import GIB, FakeDevice, FakeDriver
from tests.factories import UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    monkeypatch.setattr(machine, "FRESH", 0.0)
    monkeypatch.setattr(machine, "SPARING", 0)
    monkeypatch.setattr(connections, "_engines", {})
    return FakeDriver(FakeDevice(), FakeDevice("NVIDIA L4", 24 * GIB)).install(monkeypatch)


def looked_at() -> Cluster:
    cluster = services.ensure_local()
    services.refresh(cluster)
    return Cluster.objects.get(pk=cluster.pk)


def page_of(cluster: Cluster, tab: str = "") -> str:
    client = signed_in(UserFactory(administrator=True))
    return " ".join(client.get(f"/clusters/{cluster.pk}/{tab}").content.decode().split())


def test_real_gpus_are_shown_with_their_names(driver: FakeDriver) -> None:
    cluster = looked_at()
    assert (cluster.gpu_count, cluster.has_virtual_gpus, cluster.state) == (
        2,
        False,
        State.CONNECTED,
    )
    assert "NVIDIA H100 80GB HBM3" in page_of(cluster)


def test_the_words_of_a_driver_that_fails_are_on_the_page(driver: FakeDriver) -> None:
    driver.error = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    cluster = looked_at()
    assert (cluster.gpu_count, cluster.state) == (0, State.ISSUES)
    for tab in ("", "connection/"):
        assert "RM has detected an NVML/RM version mismatch" in page_of(cluster, tab)
    driver.error = None
    cluster = looked_at()
    assert (cluster.gpu_count, cluster.state, cluster.state_message) == (2, State.CONNECTED, "")


def test_a_device_in_mig_mode_is_named_with_what_to_do(driver: FakeDriver) -> None:
    driver.devices[1].mig = 1
    cluster = looked_at()
    assert (cluster.gpu_count, cluster.state) == (1, State.CONNECTED)
    assert "nvidia-smi -i 1 -mig 0" in page_of(cluster, "connection/")
