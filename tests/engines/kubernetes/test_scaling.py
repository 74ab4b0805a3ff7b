"""A job that somebody scales on the cluster shows the ranks that it has then. A real node."""

import pytest

from engines.kubernetes.names import job_name
from spec.phases import Phase
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import SPACE, KubernetesRig
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes


def test_a_job_that_is_scaled_shows_the_ranks_that_it_has(rig: KubernetesRig) -> None:
    script = "exec sleep 600"
    alone = Architecture.WORKERS_ONLY
    launched = rig.submit(rig.shell(script, architecture=alone, num_workers=1))
    rig.seen(launched, Phase.RUNNING)
    path = f"/apis/kubeflow.org/v1{SPACE.removeprefix('/api/v1')}/pytorchjobs"
    wish = {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 3}}}}
    rig.api.merge(f"{path}/{job_name(launched.handle)}", wish)

    def has_three() -> bool:
        shown = rig.engine.observe(launched.handle)
        return bool(shown and shown.phase is Phase.RUNNING and len(shown.ranks) == 3)

    wait_for(has_three, 60, "three ranks to run")
