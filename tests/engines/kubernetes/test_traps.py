"""What surprises people on Kubernetes, on a real cluster: that it ends, and how ranks meet."""

from dataclasses import replace

import pytest

from engines.base import Launch
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.names import job_name
from spec.data.storage import Git, Storage
from spec.framework import Framework
from spec.phases import Phase, Reason
from spec.workload import Architecture, RestartPolicy
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.reading import printed
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
ONLY = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 2}


def first_line(rig: KubernetesRig, launched: Launch) -> str:
    """Of rank 0's log, once it is there."""
    return printed(rig.engine, launched, until=b"\n").decode().splitlines()[0]


def test_elastic_workers_meet_by_rendezvous(rig: KubernetesRig) -> None:
    """The first worker that ends takes the others away, logs and all: so the others wait."""
    told = "echo $PET_NNODES $PET_RDZV_BACKEND $PET_RDZV_ENDPOINT [$MASTER_ADDR]"
    first = 'case "$(hostname)" in *-0) ;; *) exec sleep 600 ;; esac'
    launched = rig.submit(rig.shell(f"{told}; {first}", min_replicas=1, max_replicas=3, **ONLY))
    assert rig.over(launched).phase is Phase.COMPLETED
    place = f"{job_name(launched.handle)}-worker-0"
    assert first_line(rig, launched).startswith(f"1:3 c10d {place}")
    assert first_line(rig, launched).endswith("[]")


@pytest.mark.parametrize("framework", [Framework.TENSORFLOW, Framework.XGBOOST])
def test_a_backoff_limit_ends_every_framework(rig: KubernetesRig, framework: Framework) -> None:
    failing = rig.shell("sleep 1; exit 5", distributed_framework=framework, backoff_limit=1)
    seen = rig.over(rig.submit(failing))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)


def test_a_rank_that_never_restarts_ends_the_job(rig: KubernetesRig) -> None:
    launched = rig.shell("exit 5", backoff_limit=3, **ONLY)
    worker = launched.spec.worker.model_copy(update={"restart_policy": RestartPolicy.NEVER})
    spec = launched.spec.model_copy(update={"worker": worker})
    seen = rig.over(rig.submit(replace(launched, spec=spec)))
    assert seen.phase is Phase.FAILED
    assert [rank.restarts for rank in seen.ranks] == [0, 0]


def test_data_that_cannot_be_fetched_is_named(rig: KubernetesRig) -> None:
    """The image has a shell and no git, as good a reason as any."""
    rig.engine = KubernetesEngine(rig.account, prefix=PREFIX, images=Images(git=SHELL_IMAGE))
    launched = rig.shell("true", **ONLY)
    git = Git(repository="https://example.com/train.git", path="/src")
    worker = launched.spec.worker.model_copy(update={"storage": Storage(git=(git,))})
    spec = launched.spec.model_copy(update={"worker": worker})
    seen = rig.over(rig.submit(replace(launched, spec=spec)))
    assert seen.phase is Phase.FAILED
    assert "did not start: fetch-git-0 exited with code 127" in seen.message
    patient = replace(rig.shell("true"), spec=spec.model_copy(update={"backoff_limit": 3}))
    rig.submit(patient)

    def told() -> bool:
        return "could not be fetched" in rig.seen(patient, Phase.INITIALIZING).message

    wait_for(told, 60, "the cause")
