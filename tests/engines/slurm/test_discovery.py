"""Partitions and accounts of a real Slurm, and their effect before submission."""

import json
from dataclasses import asdict, replace

import pytest

from clusters.stored import capabilities_of
from engines.base import EngineRefused, Site
from engines.slurm.cluster.checks import LIMITS
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from spec.phases import Phase
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

pytestmark = pytest.mark.slurm


def test_a_job_that_no_partition_starts_is_refused_before_slurm_is_asked(rig: SlurmRig) -> None:
    offer = rig.engine.capabilities()
    assert capabilities_of(json.loads(json.dumps(asdict(offer)))) == offer
    accounts = {it.name: (it.limits, it.is_default) for it in offer.accounts}
    assert accounts["vision"] == ("6 GPUs at once", True)
    assert accounts["speech"] == ("4 GPUs at once", False)
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
