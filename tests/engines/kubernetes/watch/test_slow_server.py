"""An API server that takes its time: all that is asked of it happens, once, and is seen."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import Handle, Launch, Observation
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.names import job_name
from spec.phases import Phase
from tests.cluster import KUBECONFIG
from tests.engines.contract import launch
from tests.engines.kubernetes.conftest import PREFIX
from tests.engines.reading import listed
from tests.proxy import ApiProxy
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
DELAY = 0.3  # seconds before each answer


@pytest.fixture
def slow(api: Api, tmp_path: Path) -> Iterator[KubernetesEngine]:
    proxy = ApiProxy(Path(KUBECONFIG))
    proxy.delay = DELAY
    yield KubernetesEngine(connect(proxy.kubeconfig(tmp_path).read_text()), prefix=PREFIX)
    proxy.close()


@pytest.fixture
def launched(api: Api) -> Iterator[Launch]:
    """Not yet; its job goes with the test."""
    made = launch("true")
    made = replace(made, handle=Handle(made.handle.workload_id, "slow", "slow"))
    yield made
    api.delete(path(made), propagationPolicy="Background")


def path(launched: Launch) -> str:
    return PYTORCH.path(f"{PREFIX}slow", job_name(launched.handle))


def test_a_slow_api_server_does_once_what_is_asked_of_it(
    api: Api, slow: KubernetesEngine, launched: Launch
) -> None:
    slow.submit(launched)
    first = api.get(path(launched))
    slow.submit(launched)  # as after an answer that came too late for its task
    assert api.get(path(launched))["metadata"]["uid"] == first["metadata"]["uid"]
    with closing(slow.watch()) as watch:
        assert launched.handle.workload_id in {seen.workload_id for seen in listed(watch)}
        slow.stop(launched.handle, run=1)
        wait_for(
            lambda: is_told(watch, launched, Phase.STOPPING, Phase.STOPPED), 60, "the stop", every=0
        )
    assert api.get(path(launched))["spec"]["runPolicy"]["suspend"] is True
    slow.delete(launched.handle)
    assert slow.observe(launched.handle) is None


def is_told(watch: Iterator[Observation | None], launched: Launch, *phases: Phase) -> bool:
    seen = next(watch)
    mine = seen and seen.workload_id == launched.handle.workload_id
    return bool(mine and seen and seen.phase in phases)
