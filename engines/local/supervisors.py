"""Starts supervisors, and replaces those that died."""

import fcntl
import subprocess
import sys
import time
from contextlib import suppress

from engines.local.records.journal import is_full
from engines.local.records.layout import Folder, read_json
from engines.local.records.plan import GangPlan
from engines.local.records.state import Record
from engines.local.system import processes
from engines.local.system.inherited import ROOT, base_variables
from engines.shared.starts import start_of
from spec.phases import Phase, Reason

#: Seconds between two starts, and the longest that a started process may take to listen. On a busy
#: machine it may take long, so it is not replaced while it is alive; but it may also hang.
STARTING = 2.0
LONGEST = 300.0
HUNG = f"It did not start within {LONGEST / 60:.0f} minutes and was killed.\n"
#: Deaths, in addition to the backoff limit, after which the workload is given up.
SPARE_LIVES = 5
#: The shell exits at once, so that init becomes the parent and reaps the process.
DETACH = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh"]


def start(folder: Folder) -> None:
    """Start a detached supervisor. A second one does no harm: only one gets the lock."""
    with folder.supervisor_log.open("ab") as log:
        ended = subprocess.run(
            [*DETACH, sys.executable, "-m", "engines.local.supervisor", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=base_variables(),
            start_new_session=True,
            check=True,
        )
    pid = int(ended.stdout)
    try:
        draft = folder.path / f".starting.{pid}"  # complete before it is renamed
        draft.write_text(f"{pid} {start_of(pid)}")
        draft.replace(folder.starting)
    except OSError as error:
        if not is_full(error):
            raise


def is_starting(folder: Folder) -> bool:
    """Whether the last process that was started is alive. It may not listen yet."""
    with suppress(FileNotFoundError):
        match folder.starting.read_text().split():
            case [pid, started]:
                return processes.is_alive(int(pid), started)
    return False


def _is_waited_for(folder: Folder) -> bool:
    """Whether the last process that was started may still begin to listen. One that hangs is
    killed."""
    with suppress(FileNotFoundError):
        age = abs(time.time() - folder.starting.stat().st_mtime)  # the clock may have changed
        if not is_starting(folder) or age < LONGEST:
            return is_starting(folder)
        pid, started = folder.starting.read_text().split()
        processes.kill(int(pid), started)
        with folder.supervisor_log.open("a") as log:
            log.write(HUNG)
    return False


def revive(folder: Folder) -> None:
    """Start a supervisor if the workload is unfinished and has none. The caller holds the door's
    lock."""
    document = read_json(folder.launch)
    record = Record.read(folder)
    if document is None or folder.is_tended:
        return
    plan = GangPlan.from_json(document)
    if record and record.run == plan.run and record.is_final:
        return
    lives = folder.revivals(plan.run)
    lost = lives.stat() if lives.exists() else None
    if _is_waited_for(folder) or (lost and abs(time.time() - lost.st_mtime) < STARTING):
        return
    if lost and lost.st_size > plan.backoff_limit + SPARE_LIVES:
        _give_up(folder, plan)
        return
    with lives.open("a") as file:
        file.write(".")
    start(folder)


def _give_up(folder: Folder, plan: GangPlan) -> None:
    """Record that a workload failed because its supervisors died again and again."""
    with folder.lock.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        processes.sweep(folder.path)
        folder.secrets(plan.run).unlink(missing_ok=True)
        record = Record.read(folder)
        if record is None or record.run != plan.run:
            record = Record.of(plan)
        words = folder.supervisor_log.read_text(errors="replace").strip().splitlines()
        message = "Its supervisor died repeatedly"
        record.move(folder, Phase.FAILED, Reason.LOST, ": ".join([message, *words[-1:]]))
