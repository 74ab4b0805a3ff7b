"""Watching, reading logs and samples."""

import shutil
import time
import tracemalloc
from functools import partial
from pathlib import Path

from engines.local.records.layout import states_folder
from engines.local.system import sampling
from engines.logs import Log
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.supervisors import kill_supervisor
from tests.waiting import wait_for


def test_a_change_is_seen_within_a_second(rig: LocalRig) -> None:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    watch = rig.engine.watch()
    while next(watch):
        pass
    next(watch)  # now it follows
    stopped = time.monotonic()
    rig.engine.stop(launched.handle, run=1)
    while (seen := next(watch)) is None or seen.phase is not Phase.STOPPED:
        assert time.monotonic() - stopped < 1.0


def test_the_watch_survives_the_loss_of_its_folder(rig: LocalRig) -> None:
    launched = rig.submit(rig.prints())
    rig.over(launched)
    watch = rig.engine.watch()
    assert next(watch)
    shutil.rmtree(states_folder(rig.home))
    gone = wait_for(lambda: next(watch))
    assert gone
    assert gone.phase is None
    again = rig.submit(rig.prints())
    found = wait_for(lambda: next(watch))
    assert found
    assert found.workload_id == again.handle.workload_id


def test_a_state_file_that_cannot_be_read_is_passed_over(rig: LocalRig) -> None:
    states_folder(rig.home).mkdir(parents=True)
    (states_folder(rig.home) / "notes.json").write_text('{"a": 1}')
    (states_folder(rig.home) / "broken.json").write_text("{")
    assert next(rig.engine.watch()) is None


def test_the_watch_misses_a_dead_supervisor(rig: LocalRig) -> None:

    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    kill_supervisor(rig, launched)
    for seen in rig.engine.watch():
        if seen and seen.phase is Phase.FAILED:
            break
    assert rig.processes(launched) == 0


def test_a_big_log_costs_no_more_memory_than_a_small_one(rig: LocalRig) -> None:
    launched = rig.submit(rig.prints())
    rig.over(launched)
    size = 2 * 1024**3
    with rig.folder(launched).log(1, 0, 0).open("r+b") as log:
        log.truncate(size)  # sparse: two gigabytes that take no room
        log.seek(0, 2)
        log.write(b"the end\n")
    tracemalloc.start()
    read = partial(rig.engine.read_log, launched.handle, Log(1, 0, 0), cursor="")
    end = read(offset=size, limit=1_000_000)
    middle = read(offset=size // 2, limit=65_536)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (end.data, len(middle.data)) == (b"the end\n", 65_536)
    assert peak < 3_000_000


def test_each_rank_is_sampled_each_second(rig: LocalRig) -> None:
    launched = rig.submit(rig.python("while True: pass", num_workers=1))
    engine = rig.engine
    handle = launched.handle
    wait_for(lambda: len(engine.usage(handle, run=1, after=None)) >= 4, 15)
    samples = engine.usage(handle, run=1, after=None)
    assert {sample.rank for sample in samples} == {0, 1}
    assert all((sample.memory or 0) > 1_000_000 for sample in samples)
    assert sum(sample.cpu or 0 for sample in samples) > 0.2
    later = engine.usage(handle, run=1, after=samples[1].at)
    assert later[: len(samples) - 2] == samples[2:]
    assert [sample.at for sample in later] == sorted(sample.at for sample in later)


def test_samples_are_bounded_and_read_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    lines = [{"at": f"{number:06}", "pad": "x" * 1000} for number in range(10_000)]
    for start in range(0, len(lines), 100):
        sampling.append_samples(path, lines[start : start + 100])
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 2.1 * sampling.LARGEST
    assert sampling.read_samples(path, after="009997") == lines[9998:]
    samples = sampling.read_samples(path, after="")
    assert samples == lines[-len(samples) :]
    assert sampling.read_samples(tmp_path / "none.jsonl", after="") == []
