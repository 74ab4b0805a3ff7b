"""A launcher whose real mpirun starts the ranks on real workers, by ssh."""

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.names import job_name
from spec.framework import Framework
from spec.phases import Phase
from tests.cluster import NO_NODE
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.engines.kubernetes.launches import with_spec
from tests.engines.reading import printed
from tests.images import mpi_image

pytestmark = pytest.mark.kubernetes

#: Without a number of ranks mpirun starts as many as there are slots.
RANKS = 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(cat /etc/hostname)"'
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


@pytest.fixture(scope="module")
def image(api: Api, tmp_path_factory: pytest.TempPathFactory) -> str:
    if not api.items("/api/v1/nodes"):
        pytest.skip(NO_NODE)
    return mpi_image(api, tmp_path_factory.mktemp("mpi"))


def test_mpirun_starts_the_ranks_on_the_workers(rig: KubernetesRig, image: str) -> None:
    launched = rig.shell(
        f"exec mpirun sh -c '{RANKS}'",
        distributed_framework=Framework.MPI,
        num_workers=2,
        slots_per_worker=2,
    )
    worker = {
        "image": image,
        "environmentVariables": [{"name": name, "value": "1"} for name in AS_ROOT],
    }
    launched = with_spec(launched, worker=worker, mpiLauncherCreationPolicy="WaitForWorkersReady")
    seen = rig.over(rig.submit(launched))
    said = printed(rig.engine, launched).decode()
    assert seen.phase is Phase.COMPLETED, said
    host = f"{job_name(launched.handle)}-worker"
    assert sorted(said.splitlines()) == [f"{rank} of 4 on {host}-{rank // 2}" for rank in range(4)]
