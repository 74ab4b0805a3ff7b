"""Gangs that are placed in part give their nodes back and run in turn, on a real cluster."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from engines.base import Handle, Launch, Observation, Site
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.names import job_name
from engines.kubernetes.watch.watcher import PODS
from spec.formats import documents
from spec.framework import Framework
from spec.phases import Phase, Reason
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.seats import SEAT, seats, with_seats
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
PATIENCE = timedelta(seconds=5)
RANKS = 4
ROUNDS = 2
WITHOUT = Site(plain_frameworks=frozenset({Framework.PYTORCH}))
Maker = Callable[[KubernetesRig], Launch]


@pytest.fixture
def rig(rig: KubernetesRig) -> KubernetesRig:
    images = Images(shell=SHELL_IMAGE)
    rig.engine = KubernetesEngine(rig.account, prefix=PREFIX, images=images, patience=PATIENCE)
    return rig


WAITS = "exec sleep 600"


def gathers(hosts: str) -> str:
    """Return the program of the rank that leads, and ends the gang: it waits for all others."""
    meet = 'until ping -c1 -W1 "$host" >/dev/null 2>&1; do sleep 1; done'
    return f"for host in {hosts}; do {meet}; done; sleep 8"


def leads_by_rank(hosts: str) -> str:
    """Return the program of every rank of which the first leads."""
    return f"[ $RANK = 0 ] || {WAITS}; {gathers(hosts)}"


def equal_ranks(rig: KubernetesRig) -> Launch:
    """An Indexed Job, which the cluster names by its indexes."""
    hosts = " ".join(f"${{MASTER_ADDR%%-0.*}}-{i}.${{MASTER_ADDR#*.}}" for i in range(RANKS))
    launched = rig.shell(leads_by_rank(hosts), num_workers=RANKS - 1)
    return with_seats(replace(launched, site=WITHOUT))


def named_roles(rig: KubernetesRig) -> Launch:
    """A Job for each rank."""
    lead = role("lead", gathers("peer-0 peer-1 peer-2"), leads=True)
    roles = [lead, role("peer", WAITS, count=RANKS - 1)]
    document: dict[str, Any] = {"roles": roles, "backoffLimit": 0}
    spec = documents.load_spec(document | {"terminationGracePeriodSeconds": 1})
    return Launch(Handle(uuid4(), "gang", "team-a"), 1, spec)


def role(name: str, script: str, **fields: Any) -> dict[str, Any]:
    compute = {"extendedResources": [{"resource": SEAT, "quantity": "1"}]}
    command = f"/bin/sh -c {shlex.quote(script)}"
    return {"name": name, "image": SHELL_IMAGE, "command": command, "compute": compute, **fields}


def operators_job(rig: KubernetesRig) -> Launch:
    if PYTORCH not in rig.kinds:
        pytest.skip("this cluster has no PyTorchJob")
    launched = rig.shell("true", num_workers=RANKS - 1)
    job = job_name(launched.handle)
    hosts = [f"{job}-master-0", *(f"{job}-worker-{index}" for index in range(RANKS - 1))]
    again = rig.shell(leads_by_rank(" ".join(hosts)), num_workers=RANKS - 1)
    return with_seats(replace(again, handle=launched.handle))


def run_to_the_end(rig: KubernetesRig, gangs: list[Launch]) -> tuple[list[Observation], list[str]]:
    """Submit gangs and watch until all have completed. Returns every observation, and the reasons
    of the events."""
    seen: list[Observation] = []
    events: list[str] = []
    for gang in gangs:
        rig.submit(gang)

    def is_done(shown: Observation | None) -> bool:
        events.extend(event.reason for event in rig.engine.events())
        seen.extend([shown] if shown else [])
        assert all(it.phase is not Phase.FAILED for it in seen), seen[-1]
        ended = {it.workload_id for it in seen if it.phase is Phase.COMPLETED}
        return len(ended) == len(gangs)

    with closing(rig.engine.watch()) as watch:
        wait_for(lambda: is_done(next(watch)), 180, "all gangs to complete", every=0)
    return seen, events


@pytest.mark.parametrize("make", [equal_ranks, named_roles, operators_job])
@pytest.mark.parametrize("turn", range(ROUNDS))
def test_of_two_gangs_that_each_hold_half_both_complete(
    rig: KubernetesRig, make: Maker, turn: int
) -> None:
    with seats(rig.api, 2 * RANKS - 2):
        seen, events = run_to_the_end(rig, [make(rig), make(rig)])
    assert {it.attempt for it in seen} == {0}
    assert Phase.STOPPED not in {it.phase for it in seen}
    assert "TakenBack" in events
    assert "TriedAgain" in events


def test_a_gang_that_was_taken_back_waits_says_why_and_is_stopped(rig: KubernetesRig) -> None:
    gang = equal_ranks(rig)
    with seats(rig.api, RANKS - 1), closing(rig.engine.watch()) as watch:
        rig.submit(gang)
        wait_for(lambda: turned(watch) and is_held(rig, gang), 90, "its take-back", every=0)
        seen = rig.engine.observe(gang.handle)
        assert seen
        assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.WAITING_FOR_CAPACITY)
        wait_for(lambda: not rig.mine(PODS), 60, "its pods to be gone")
        rig.engine.stop(gang.handle, run=1)
        stopped = rig.engine.observe(gang.handle)
        assert stopped
        assert stopped.phase is Phase.STOPPED


def is_held(rig: KubernetesRig, gang: Launch) -> bool:
    seen = rig.engine.observe(gang.handle)
    return bool(seen and seen.starts_over)


def turned(watch: Iterator[Observation | None]) -> bool:
    """Let the watch do its work once."""
    next(watch)
    return True
