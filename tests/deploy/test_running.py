"""Trainyard installed in the cluster: it trains there, and goes on while its own pods go.

``TRAINYARD_TEST_DEPLOY`` names its image. The nodes have to have it, and those of PostgreSQL and
Valkey that ``deploy/`` names.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import SHELL_IMAGE, RealCluster
from tests.deploy.installation import PROJECT, START, Installation
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes

IMAGE = os.environ.get("TRAINYARD_TEST_DEPLOY", "")
LINES = 20
SCRIPT = f"i=0; while [ $i -lt {LINES} ]; do echo line $i; i=$((i + 1)); sleep 1; done"


@pytest.fixture
def installed(
    real_cluster: RealCluster, kubectl: list[str], overlay: Path
) -> Iterator[Installation]:
    if not IMAGE:
        pytest.skip("TRAINYARD_TEST_DEPLOY names no image of Trainyard; see docs/deploy.md")
    installation = Installation(kubectl, overlay, IMAGE)
    installation.remove()  # what a test left that was cut short
    try:
        installation.install()
        yield installation
    finally:
        installation.remove()


def test_an_installation_trains_while_its_own_pods_go(
    installed: Installation, real_cluster: RealCluster
) -> None:
    leaving, staying = installed.pods("web")
    (worker,) = installed.pods("worker")
    with installed.door(leaving) as door, Rest(door, PROJECT) as rest:
        made = rest.submit(
            "through-restarts",
            workers=1,
            image=SHELL_IMAGE,
            command=f"sh -c '{SCRIPT}'",
            compute={"cpuCoreRequest": 0.01, "cpuMemoryRequest": "10M"},
        )
        rest.wait(made, "Running", timeout=START)
    # Each ends by itself before Kubernetes would kill it.
    installed.run("delete", "pod", worker, leaving)
    with installed.door(staying) as door, Rest(door, PROJECT) as rest:
        assert rest.wait(made, "Completed", "Failed", timeout=START) == "Completed"
        assert len(real_cluster.jobs(made)) == 1

        def lines() -> list[str]:
            return [line for line in rest.log(made).splitlines() if "line " in line]

        wait_for(lambda: len(lines()) >= LINES, 60, "the whole log", every=0.5)
        assert [line.rsplit(" ", 1)[1] for line in lines()] == [str(n) for n in range(LINES)]
        rest.delete(made)
        wait_for(lambda: not real_cluster.jobs(made), 60, "the job to be gone", every=0.5)
    wait_for(lambda: len(installed.pods("web")) == 2, START, "two web pods again", every=1)
