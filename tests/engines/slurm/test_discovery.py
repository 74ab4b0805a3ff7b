"""Partitions and accounts of a real Slurm, and their effect before submission."""

import json
from dataclasses import asdict, replace

import pytest

from clusters.stored import capabilities_of
from engines.base import EngineRefused, Launch, Site
from engines.slurm.cluster.checks import LIMITS
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from spec.phases import Phase
from tests.engines.contract import launch
from tests.engines.slurm import cases
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

pytestmark = pytest.mark.slurm


def test_a_job_that_no_partition_starts_is_refused_before_slurm_is_asked(rig: SlurmRig) -> None:
    offer = rig.engine.capabilities()
    assert capabilities_of(json.loads(json.dumps(asdict(offer)))) == offer
    accounts = {it.name: (it.limits, it.is_default) for it in offer.accounts}
    assert accounts["vision"] == ("6 GPUs at once", True)
    assert accounts["speech"] == ("4 GPUs at once", False)
    vision = next(it for it in offer.accounts if it.name == "vision")
    assert (vision.is_own, vision.most.gpus) == (True, 6)
    assert vision.qos == ("capped", "high", "low", "normal")
    assert {it.name: it.most.gpus for it in offer.qos}["capped"] == 1
    debug = next(it for it in offer.partitions if it.name == "debug")
    assert (debug.max_nodes, debug.max_seconds) == (1, 300)
    launched = rig.shell("true", node_pools=("short",), time_limit_seconds=900)
    site = Site(pools={"short": ("slurm.partition/debug", "")}, partitions=offer.partitions)
    with pytest.raises(EngineRefused, match="debug allows 5 min"):
        rig.engine.submit(replace(launched, site=site))
    assert rig.engine.observe(launched.handle) is None


def test_the_connection_test_tells_the_limits_of_our_accounts(rig: SlurmRig) -> None:
    found = {it.name: it.text for it in rig.engine.check() if it.area == LIMITS}
    assert found["Account vision"] == "6 GPUs at once"
    assert found["Account speech"] == "4 GPUs at once"
    other = SlurmEngine(rig.transport, replace(rig.site, account="physics"))
    assert any("only with speech, vision" in it.text for it in other.check())


def test_a_job_is_charged_to_the_account_of_its_project(rig: SlurmRig) -> None:
    launched = rig.prints()
    site = replace(rig.site, account="vision", accounts={launched.handle.project: "speech"})
    rig.engine = SlurmEngine(rig.transport, site)
    rig.submit(launched)
    name = job_name(launched.handle.workload_id, 1)
    words = ["squeue", "--noheader", "--states=all", f"--name={name}", "--format=%a %q"]
    said = wait_for(lambda: rig.transport.run(words).out.split(), 30, "the job", every=0.2)
    assert said == ["speech", "normal"]
    assert rig.over(launched).phase is Phase.COMPLETED


def test_a_script_is_judged_by_what_it_names(rig: SlurmRig) -> None:
    offer = rig.engine.capabilities()
    site = Site(partitions=offer.partitions, accounts=offer.accounts, qos=offer.qos)

    def submit(lines: str) -> Launch:
        text = f"#!/bin/bash\n#SBATCH {lines}\nsrun hostname\n"
        launched = cases.as_written(text, launch("true").handle)
        return rig.submit(replace(launched, site=site))

    for lines, words in (
        ("--partition=debug --time=1:00:00", "line 2: the partition debug allows 5 min"),
        ("--partition=none", "line 2: the cluster has no partition none"),
        ("--account=speech", "line 2: jobs of this project are charged to the account vision"),
        ("--qos=gold", "line 2: Slurm has no QOS gold"),
    ):
        with pytest.raises(EngineRefused, match=words):
            submit(lines)
    accepted = submit("--partition=cpu --time=0-10")
    assert rig.over(accepted).phase is Phase.COMPLETED
    rig.testbed.update("partitionname=debug", "default=yes")
    try:
        assert rig.over(submit("--partition=gpu --time=1:00:00")).phase is Phase.COMPLETED
    finally:
        rig.testbed.update("partitionname=gpu", "default=yes")


def test_more_than_an_account_may_use_waits_as_one_that_never_starts(rig: SlurmRig) -> None:
    offer = rig.engine.capabilities()
    launched = rig.shell("true", num_workers=6)
    worker = launched.spec.worker
    compute = worker.compute.model_copy(update={"gpu_devices_request": 1})
    spec = launched.spec.model_copy(
        update={"worker": worker.model_copy(update={"compute": compute})}
    )
    site = Site(partitions=offer.partitions, accounts=offer.accounts, qos=offer.qos)
    rig.submit(replace(launched, spec=spec, site=site))

    def shows_excess() -> bool:
        shown = rig.engine.observe(launched.handle)
        return bool(shown and shown.message.startswith("The account vision allows 6 GPUs at once"))

    wait_for(shows_excess, 30, "the limit of the account", every=0.3)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
