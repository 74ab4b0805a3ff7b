"""Records of a real accounting are in the history of their workloads."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engines.base import ClusterEvent, Launch
from engines.slurm.client import files
from engines.slurm.client.transport import SlurmPrograms
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import records, squeue
from tests.engines.contract import DEADLINE
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for
from workloads.worker import cluster_events

pytestmark = pytest.mark.slurm
#: Seconds. A controller or an accounting that an earlier test killed is connected to anew with
#: pauses, and what happened meanwhile is told after that.
ACCOUNTED = 180.0


def kept(rig: SlurmRig, launched: Launch, *, over: bool) -> None:
    """Accounting has the start of its job, or the end."""
    name = job_name(launched.handle.workload_id, launched.run)
    jobs = wait_for(lambda: squeue(rig.transport, names=[name]), DEADLINE, "its job", every=0.2)
    since = datetime.now(UTC) - timedelta(hours=1)

    def told() -> bool:
        answer = records(rig.transport, [jobs[0].id], since=since) or ()
        return any(it.name == name and it.start and it.is_over is over for it in answer)

    wait_for(told, ACCOUNTED, f"accounting to have {jobs[0].id}", every=0.5)


def heard(rig: SlurmRig, *reasons: str) -> list[ClusterEvent]:
    """What the watch hears of a job, as soon as it heard all of these."""
    watch = rig.engine.watch()
    events = dict[str, ClusterEvent]()

    def come() -> bool:
        next(watch)
        events.update({event.reason: event for event in rig.engine.events()})
        return set(reasons) <= events.keys()

    try:
        wait_for(come, DEADLINE, " and ".join(reasons))
    finally:
        watch.close()
    return [events[reason] for reason in reasons]


def with_gpus(launched: Launch) -> Launch:
    compute = launched.spec.worker.compute.model_copy(update={"gpu_devices_request": 1})
    replica = launched.spec.worker.model_copy(update={"compute": compute})
    return replace(launched, spec=launched.spec.model_copy(update={"worker": replica}))


def test_the_page_shows_nodes_and_resources_of_a_canceled_job(rig: SlurmRig, pages: Pages) -> None:
    launched = rig.submit(with_gpus(rig.shell("exec sleep 600")))
    kept(rig, launched, over=False)
    (started,) = heard(rig, "Started")
    place = r"on n\S+; 2 GPUs, 2 CPUs, [\d.]+ [MG]B of memory; "
    assert re.fullmatch(place + "partition gpu; account vision; QOS normal", started.message)
    name = job_name(launched.handle.workload_id, 1)
    rig.transport.run(["scancel", f"--name={name}"])
    kept(rig, launched, over=True)
    (ended,) = heard(rig, "Canceled")
    assert re.match(r"after \d:\d\d:\d\d", ended.message)
    row = pages.show(launched)
    cluster_events.store_events(row.cluster, [started, ended])
    page = pages.browser.get(f"{row.get_absolute_url()}events/").content.decode()
    for event in (started, ended):
        assert f"{event.reason}: {event.message} ({event.about})" in page


def test_the_steps_that_failed_are_told_with_the_memory_that_was_used(rig: SlurmRig) -> None:
    use = 'x=$(head -c 60000000 /dev/zero | tr "\\0" a); sleep 3; exit 3'
    kept(rig, rig.submit(rig.shell(use)), over=True)
    (ended,) = heard(rig, "Failed")
    memory = re.search(r"a task used up to ([\d.]+) MB of memory on n\d", ended.message)
    assert memory, ended
    assert float(memory[1]) > 60


NO_JSON = r"""
mkdir -p "$1/plugins" && cd "$1" || exit 1
from=$(scontrol show config | sed -n 's/^PluginDir *= //p')
ln -sf "$from"/* plugins/ && rm -f plugins/serializer_json.so
sed '/^PluginDir/d' "$SLURM_CONF" > slurm.conf && echo "PluginDir=$1/plugins" >> slurm.conf
"""


def test_a_slurm_that_was_built_without_json_loses_no_line(rig: SlurmRig) -> None:
    place = f"{rig.site.directory}/without-json"
    files.output_of(files.run_program(rig.transport, NO_JSON, place), place)
    bare = replace(rig.transport, programs=SlurmPrograms(conf=f"{place}/slurm.conf"))
    answer = bare.run(["sh", "-c", "sacct --json --jobs=1; exit 0"])
    assert (answer.out, "nable to find plugin: serializer/json" in answer.err) == ("", True)
    rig.engine = SlurmEngine(bare, rig.site, interval=0.5)
    rig.submit(rig.prints())
    started, ended = heard(rig, "Started", "Completed")
    assert re.fullmatch(r"on n\S+", started.message)
    assert re.fullmatch(r"after 0:00:\d\d", ended.message)
