"""One pod without a framework on a real cluster, as a job of an operator for several."""

import shlex
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from engines.base import Handle, Launch
from spec import documents
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.engines.reading import printed

pytestmark = pytest.mark.kubernetes


def training(script: str, **whole: Any) -> Launch:
    worker = {"image": SHELL_IMAGE, "command": f"/bin/sh -c {shlex.quote(script)}"}
    once = {"backoffLimit": 0, "terminationGracePeriodSeconds": 1}
    spec = documents.load({"kind": "training", "worker": worker, **once, **whole})
    return Launch(Handle(uuid4(), "alone", "team-a"), 1, spec)


def test_a_training_runs_to_its_end_as_the_one_worker(rig: KubernetesRig) -> None:
    launched = rig.submit(training("echo $RANK of $WORLD_SIZE"))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.COMPLETED, Reason.NONE)
    (rank,) = seen.ranks
    assert (rank.role, rank.index, rank.phase) == (Role.WORKER, 0, RankPhase.SUCCEEDED)
    assert printed(rig.engine, launched) == b"0 of 1\n"


def test_a_training_that_fails_says_how(rig: KubernetesRig) -> None:
    seen = rig.over(rig.submit(training("exit 3")))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert seen.message.startswith("worker-0 (rank 0) exited with code 3")
    assert [rank.exit_code for rank in seen.ranks] == [3]


def test_a_training_is_tried_again_up_to_its_backoff_limit(rig: KubernetesRig) -> None:
    launched = rig.submit(training("echo try; sleep 1; exit 5", backoffLimit=1))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert "exited with code 5" in seen.message


def test_a_training_stops_runs_again_and_is_deleted(rig: KubernetesRig) -> None:
    launched = rig.submit(training("echo here; exec sleep 600"))
    rig.seen(launched, Phase.RUNNING)
    session = rig.engine.exec(launched.handle, rank=0, argv=["true"])
    session.close()
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    again = rig.submit(replace(launched, run=2))
    assert rig.seen(again, Phase.RUNNING).run == 2
    assert printed(rig.engine, again, until=b"here\n")
    rig.engine.delete(launched.handle)
    assert rig.engine.observe(launched.handle) is None
