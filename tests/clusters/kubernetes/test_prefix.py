"""A prefix that another Trainyard uses on a real API server."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from clusters import services
from clusters.connections import engine_for
from clusters.models import Cluster, Installation, State
from engines.base import EngineRefused
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import INSTALLATION, PROJECT
from engines.kubernetes.objects import NAMESPACES
from tests.clusters.kubernetes.conftest import PREFIX
from tests.engines.contract import launch

pytestmark = [pytest.mark.kubernetes, pytest.mark.django_db]


@pytest.fixture
def space(api: Api) -> Iterator[str]:
    """The path of a namespace that another Trainyard with our prefix made."""
    project = f"p{uuid4().hex[:8]}"
    labels = {PROJECT: project, INSTALLATION: str(uuid4())}
    meta = {"name": f"{PREFIX}{project}", "labels": labels}
    api.create(NAMESPACES, {"kind": "Namespace", "metadata": meta})
    yield f"{NAMESPACES}/{meta['name']}"
    api.delete(f"{NAMESPACES}/{meta['name']}")


def label(api: Api, space: str, mark: str | None) -> None:
    api.merge(space, {"metadata": {"labels": {INSTALLATION: mark}}})


def test_a_prefix_in_use_is_refused_until_its_namespaces_are_released(
    cluster: Cluster, api: Api, space: str
) -> None:
    services.refresh(cluster)
    assert cluster.state == State.MISSING
    assert f"The namespace prefix {PREFIX} is in use" in cluster.refusal
    assert space.rsplit("/", 1)[1] in cluster.refusal
    with pytest.raises(EngineRefused, match="another Trainyard uses its"):
        engine_for(cluster).submit(launch("true"))
    assert api.find(f"{NAMESPACES}/{PREFIX}team-a") is None
    label(api, space, None)  # as the refusal says
    services.refresh(cluster)
    assert cluster.refusal == ""


def test_a_restored_trainyard_finds_its_own_prefix(cluster: Cluster, api: Api, space: str) -> None:
    label(api, space, Installation.current_mark())
    services.refresh(cluster)
    assert cluster.refusal == ""
