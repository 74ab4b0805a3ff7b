"""What Slurm refuses, keeps waiting or burns a number for, by either release."""

from dataclasses import replace

import pytest

from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import squeue
from spec.phases import Phase, Reason
from tests.engines.contract import launch
from tests.engines.slurm import cases
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.engines.slurm.watched import WatchedSite

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("watched")]
CAPPED = 3  # jobs of one user that the QOS of that name lets in at once


def test_more_nodes_than_there_are_never_start_and_it_is_said(rig: SlurmRig, pages: Pages) -> None:
    """One release keeps the job for ever, another refuses it and burns its number."""
    launched = rig.of_all_cores("true", ranks=len(rig.testbed.told["nodes"]) + 1)
    pages.hand_over(launched)
    name = job_name(launched.handle.workload_id, 1)
    if any(job.is_queued for job in squeue(rig.transport, names=[name])):
        shown = rig.seen(launched, Phase.PENDING)
        assert shown.reason is Reason.NEVER_FITS
        assert "It will not start as it is." in pages.text(launched)
    else:
        assert rig.engine.observe(launched.handle) is None
        assert "Slurm refuses it: " in pages.text(launched)


def test_a_refused_job_number_does_not_end_a_workload(
    rig: SlurmRig, pages: Pages, watched: WatchedSite
) -> None:
    """The queue and accounting show it as a job that failed, by the name of ours."""
    watched.most_jobs = 2
    launched = rig.prints()
    compute = launched.spec.worker.compute.model_copy(update={"cpu_memory_limit": "9000G"})
    worker = launched.spec.worker.model_copy(update={"compute": compute})
    greedy = replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))
    with pytest.raises(EngineRefused) as refusal:
        rig.engine.submit(greedy)
    assert (refusal.value.field or "").startswith("worker.compute")
    assert rig.engine.observe(greedy.handle) is None
    assert rig.over(rig.submit(launched)).phase is Phase.COMPLETED
    assert "Completed" in pages.text(launched)


def capped() -> Launch:
    text = "#!/bin/sh\n#SBATCH --ntasks=1 --time=9 --qos=capped\nsrun sleep 600\n"
    return cases.as_written(text, launch("true").handle)


def test_a_limit_of_jobs_is_waited_for(rig: SlurmRig, pages: Pages) -> None:
    first, *_ = [rig.submit(capped()) for _ in range(CAPPED)]
    late = capped()
    pages.hand_over(late)
    assert "The account has reached its limit of jobs" in pages.shown(late)
    with pytest.raises(EngineUnavailable, match="limit of jobs"):
        rig.engine.submit(late)
    rig.engine.stop(first.handle, run=1)
    assert rig.over(first).phase is Phase.STOPPED
    rig.submit_patiently(late)
    rig.seen(late, Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING)
