"""What jobs do on a real Slurm beyond the contract."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from engines.slurm.client import files
from engines.slurm.client.transport import LocalTransport
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.script.site import SlurmSite
from spec.phases import Phase, Reason
from tests.engines.contract import DEADLINE, launch
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

pytestmark = pytest.mark.slurm


def test_a_failed_setup_ends_the_rank(
    rig: SlurmRig,
) -> None:
    good = rig.submit(rig.shell("echo $WORD $RANK", setup=("cd /tmp", "export WORD=$PWD")))
    assert rig.over(good).phase is Phase.COMPLETED
    assert printed(rig.engine, good, 1) == b"/tmp 1\n"
    bad = rig.submit(rig.shell("echo never", setup=("true", "(exit 7)")))
    shown = rig.over(bad)
    assert "exited with code 7" in shown.message
    assert b"Setup line 2 ended with exit code 7" in printed(rig.engine, bad)


def test_a_gang_that_fails_starts_again_as_often_as_its_backoff_limit(rig: SlurmRig) -> None:
    script = 'echo try $ATTEMPT; [ "$ATTEMPT" = 1 ]'
    launched = rig.submit(rig.shell(script, backoff_limit=1))
    shown = rig.over(launched)
    assert (shown.phase, shown.attempt) == (Phase.COMPLETED, 1)
    starts = {one.start for one in rig.engine.logs(launched.handle, run=1)}
    assert starts == {0, 1}


def test_a_stop_gives_ranks_their_grace_period_and_keeps_what_they_wrote(rig: SlurmRig) -> None:
    script = """
trap 'sleep 1; echo saved > "$CHECKPOINT_DIR/$RANK"; exit 0' TERM
[ -e "$CHECKPOINT_DIR/$RANK" ] && cat "$CHECKPOINT_DIR/$RANK" && exit 0
echo ready; while :; do sleep 0.1; done"""
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=20))
    assert printed(rig.engine, launched, 0, until=b"ready")
    assert printed(rig.engine, launched, 1, until=b"ready")
    rig.engine.stop(launched.handle, run=1)
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    again = rig.submit(replace(launched, run=2))
    assert rig.over(again).phase is Phase.COMPLETED
    assert printed(rig.engine, again, 1) == b"saved\n"


def test_a_rank_that_outlives_its_grace_period_is_killed(rig: SlurmRig) -> None:
    launched = rig.submit(rig.shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"))
    assert printed(rig.engine, launched, 0, until=b"ready")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED


def test_a_job_that_waits_says_why_and_is_stopped_at_once(rig: SlurmRig, pages: Pages) -> None:
    first = rig.submit(rig.of_all_cores("exec sleep 600", time_limit_seconds=600))
    rig.seen(first, Phase.RUNNING)
    launched = rig.submit(rig.prints())
    shown = rig.seen(launched, Phase.PENDING, Phase.FAILED)
    assert shown.phase is Phase.PENDING
    busy = "The nodes that fit are in use"
    wait_for(lambda: busy in pages.text(launched), DEADLINE, "the cause on the page", every=0.2)
    expected = re.compile(r"Slurm expects it to start at 20\d\d-\d\d-\d\d \d\d:\d\d UTC")
    wait_for(lambda: expected.search(pages.text(launched)), DEADLINE, "its estimate", every=0.5)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED


def test_a_rank_that_exceeds_its_memory_is_recognized(rig: SlurmRig) -> None:
    script = 'x=$(head -c 300000000 /dev/zero | tr "\\0" a); while :; do sleep 0.1; done'
    launched = rig.shell(script)
    compute = launched.spec.worker.compute.model_copy(update={"cpu_memory_limit": "100M"})
    worker = launched.spec.worker.model_copy(update={"compute": compute})
    rig.submit(replace(launched, spec=launched.spec.model_copy(update={"worker": worker})))
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.OUT_OF_MEMORY)
    assert "used more memory than it asked for" in shown.message


def test_secrets_are_gone_when_a_run_is_over(rig: SlurmRig) -> None:
    launched = rig.submit(rig.prints())
    rig.over(launched)
    folder = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}"
    listed = rig.transport.run(["find", folder, "-name", "environment.sh"])
    assert listed.out == ""
    modes = rig.transport.run(["find", folder, "-perm", "/077", "-name", "batch.sh"])
    assert modes.out == ""


def test_somebody_elses_cancel_is_a_stop_that_nobody_asked_trainyard_for(rig: SlurmRig) -> None:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    name = job_name(launched.handle.workload_id, 1)
    rig.transport.run(["scancel", f"--name={name}"])
    shown = rig.over(launched)
    assert (shown.phase, shown.message) == (Phase.STOPPED, "")


def test_slurm_on_this_host_needs_no_ssh(rig: SlurmRig, tmp_path: Path) -> None:
    here = LocalTransport(replace(rig.testbed.programs, folder=rig.testbed.told["commands"] or ""))
    rig.engine = SlurmEngine(here, SlurmSite(str(tmp_path)))
    launched = rig.submit(rig.prints())
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched, 1) == b"hello\n"
    rig.engine.delete(launched.handle)
    assert rig.engine.observe(launched.handle) is None


def test_a_port_of_a_rank_is_reached_through_the_login_node(rig: SlurmRig) -> None:
    script = "[ $RANK = 1 ] && exec sleep 600; exec python3 -m http.server 8149"
    launched = rig.submit(rig.shell(script))
    rig.seen(launched, Phase.RUNNING)

    def answers() -> bytes:
        with (
            suppress(OSError),  # nobody listens yet
            rig.engine.dial(launched.handle, rank=0, port=8149) as stream,
        ):
            stream.settimeout(10)
            stream.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            return stream.recv(100)
        return b""

    assert wait_for(answers, 30, "an answer", every=0.3).startswith(b"HTTP/1.0 200")


def test_what_programs_write_has_the_umask_of_the_login(rig: SlurmRig) -> None:
    expected = rig.transport.run(["sh", "-c", "umask"]).out
    report = 'umask; : > "$CHECKPOINT_DIR/'
    gang = rig.submit(rig.shell(f'{report}rank-$RANK"'))
    text = f"#!/bin/sh\n{report}script\"\nsrun sh -c '{report}step\"'\n"
    script = rig.submit(cases.as_written(text, launch("true").handle))
    usual = f"{0o666 & ~int(expected, 8):o}"
    for launched, names in ((gang, ["rank-0", "rank-1"]), (script, ["script", "step"])):
        assert rig.over(launched).phase is Phase.COMPLETED
        lines = expected * (2 if launched is script else 1)
        assert printed(rig.engine, launched).decode() == lines
        folder = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}"
        written = rig.transport.run(
            ["find", f"{folder}/checkpoints", "-type", "f", "-printf", "%f %m\n"]
        )
        assert sorted(written.out.splitlines()) == [f"{name} {usual}" for name in names]
        opened = rig.transport.run(["find", folder, "-maxdepth", "0", "-perm", "/077"])
        assert opened.out == ""


SAVE_ON_TERM = """
import os, pathlib, signal, time
def save(*_):
    time.sleep(3)
    pathlib.Path(os.environ["CHECKPOINT_DIR"], os.environ["RANK"]).write_text("saved")
    os._exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""


def stopped(rig: SlurmRig, command: str) -> str:
    """Stop a gang whose program takes three seconds to save, once it is ready. Return its
    checkpoints."""
    program = f"{rig.site.directory}/save_on_term.py"
    files.run_program(rig.transport, 'cat > "$1"', program, stdin=SAVE_ON_TERM.encode())
    launched = rig.shell(command.format(program), termination_grace_period_seconds=20)
    rig.submit(launched)
    folder = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}"
    rig.seen(launched, Phase.RUNNING)
    ready = ["sh", "-c", 'cat "$1"/ranks/*/out "$1"/runs/1/*/rank-*.log', "sh", folder]
    wait_for(lambda: rig.transport.run(ready).out.count("ready") >= 2, 30, "both", every=0.2)
    rig.engine.stop(launched.handle, run=1)
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    return rig.transport.run(["sh", "-c", 'cd "$1/checkpoints" && cat *', "sh", folder]).out


@pytest.mark.parametrize(
    "command",
    ["true && python3 {}", "python3 {} | tee out", "python3 {} > out & wait"],
    ids=["and", "pipe", "background"],
)
def test_a_checkpoint_is_saved_below_shells_that_end_at_once(rig: SlurmRig, command: str) -> None:
    assert stopped(rig, command) == "savedsaved"


def test_a_rank_that_ends_at_once_leaves_others_their_grace_period(rig: SlurmRig) -> None:
    assert stopped(rig, "[ $RANK = 0 ] && exec python3 {}; echo ready; exec sleep 600") == "saved"
