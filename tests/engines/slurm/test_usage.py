"""Usage comes from one call of sstat for all that runs, and each rank has its share of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest

from engines.slurm.client.transport import TIMEOUT, CommandResult
from engines.slurm.steps import sum_usage
from engines.slurm.usage import MAX_JOBS, StepSampler
from spec.parts.compute import Compute
from spec.phases import Phase
from tests.engines.reading import listed
from tests.engines.slurm.cases import UID
from tests.engines.slurm.glances import glance
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

PRINTED = """\
52.batch|cpu=00:00:09,mem=12488K|cpu=00:00:09
52.0|cpu=00:00:10,energy=0,mem=63M,vmem=67728K|cpu=00:00:10,gres/gpuutil=40,gres/gpumem=3G
53.0|cpu=1-00:00:02,mem=193176K|cpu=00:00:00
"""


@dataclass
class Recorded:
    """Answers with what was recorded, and remembers what it was asked."""

    out: str
    host: str = "recorded"
    asked: list[str] = field(default_factory=list)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        self.asked.append(argv[-1])
        return CommandResult(0, self.out.encode(), "")

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return list(argv)

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


def test_steps_are_added_up_by_job_without_the_batch_script() -> None:
    usage = sum_usage(PRINTED)
    assert usage.keys() == {"52", "53"}
    assert (usage["52"].cpu, usage["52"].memory) == (10.0, 63 * 2**20)
    assert (usage["52"].gpu, usage["52"].gpu_memory) == (40.0, 3 * 2**30)
    assert (usage["53"].cpu, usage["53"].gpu) == (86_402.0, None)
    assert sum_usage("sstat: error\n\n") == {}


def test_each_rank_of_a_part_has_its_share() -> None:
    transport = Recorded(PRINTED)
    sampler = StepSampler(transport, every=0)
    assert sampler.refresh([glance()]) == {UID}
    assert transport.asked == ["--jobs=52,53"]
    first = sampler.read(UID, 1, None)
    assert [it.rank for it in first] == [0, 1, 2]
    assert [it.memory for it in first] == [63 * 2**20, 193176 * 512, 193176 * 512]
    assert [it.cpu for it in first] == [None] * 3
    transport.out = PRINTED.replace("00:00:10,energy", "00:00:20,energy")
    sampler.refresh([glance()])
    second = sampler.read(UID, 1, first[0].at)
    assert second[0].cpu
    assert [it.cpu for it in second[1:]] == [0.0, 0.0]
    assert sampler.read(UID, 1, second[0].at) == []
    assert sampler.read(UID, 2, None) == []


def test_many_running_jobs_take_turns_and_waiting_ones_are_skipped() -> None:
    transport = Recorded("")
    sampler = StepSampler(transport, every=0)
    many = [glance(UUID(int=number), str(number), parts=1) for number in range(MAX_JOBS + 8)]
    sampler.refresh(many)
    sampler.refresh(many)
    first, second = (set(asked.removeprefix("--jobs=").split(",")) for asked in transport.asked)
    assert len(first) == len(second) == MAX_JOBS
    assert len(first | second) == len(many)
    sampler.refresh([glance(state="PENDING")])
    assert len(transport.asked) == 2
    slow = StepSampler(transport)
    slow.refresh([glance()])
    slow.refresh([glance()])
    assert len(transport.asked) == 3


@pytest.mark.slurm
def test_a_real_job_is_sampled_while_it_runs(rig: SlurmRig) -> None:
    rig.engine._usage.every = 1.5
    launched = rig.shell('x=$(head -c 40000000 /dev/zero | tr "\\0" a); while :; do :; done')
    compute = Compute(cpu_core_request=1)
    worker = launched.spec.worker.model_copy(update={"compute": compute})
    launched = replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))
    rig.submit(launched)
    rig.seen(launched, Phase.RUNNING)
    watch = rig.engine.watch()
    listed(watch)
    uid = launched.handle.workload_id

    def both() -> bool:
        rig.engine.news()
        samples = rig.engine.usage(launched.handle, run=1, after=None)
        return {it.rank for it in samples if it.cpu and (it.memory or 0) > 30e6} == {0, 1}

    wait_for(both, 30, "a sample of both ranks", every=0.3)
    assert uid in {it.uid for it in rig.engine._watching.last.values()}  # type: ignore[union-attr]  # it watches
    watch.close()
