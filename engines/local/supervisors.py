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

#: Seconds between two starts of a supervisor.
START_SECONDS = 2.0
#: Seconds after which a process that does not listen is killed. Until then it is not replaced,
#: because a start can take long on a busy machine.
HANG_SECONDS = 300.0
HUNG = f"It did not start within {HANG_SECONDS / 60:.0f} minutes and was killed.\n"
#: Deaths, in addition to the backoff limit, after which the workload is given up.
SPARE_LIVES = 5


def start(folder: Folder) -> None:
    """Start a detached supervisor. A second one does no harm: only one gets the lock."""
    with folder.supervisor_log.open("ab") as log:
        shell = subprocess.run(
            [*processes.DETACH, sys.executable, "-m", "engines.local.supervisor", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=base_variables(),
            start_new_session=True,
            check=True,
        )
    pid = int(shell.stdout)
    try:
        # Written to a draft and renamed, so that no reader sees an incomplete file.
        draft = folder.path / f".starting.{pid}"
        draft.write_text(f"{pid} {start_of(pid)}")
        draft.replace(folder.last_start)
    except OSError as error:
        if not is_full(error):
            raise  # the file is not essential: on a full disk, the next look starts another


def is_starting(folder: Folder) -> bool:
    """Whether the supervisor process that was started last is alive. It may not listen yet."""
    with suppress(FileNotFoundError):
        match folder.last_start.read_text().split():
            case [pid, started]:
                return processes.is_alive(int(pid), started)
    return False


def _may_still_start(folder: Folder) -> bool:
    """Whether the process that was started last may still begin to listen. Kills one that hangs."""
    with suppress(FileNotFoundError):
        age = abs(time.time() - folder.last_start.stat().st_mtime)  # the clock may have changed
        if not is_starting(folder) or age < HANG_SECONDS:
            return is_starting(folder)
        pid, started = folder.last_start.read_text().split()
        processes.kill(int(pid), started)
        with folder.supervisor_log.open("a") as log:
            log.write(HUNG)
    return False


def revive(folder: Folder) -> None:
    """Start a supervisor if the workload is unfinished and has none, or give the workload up.

    The caller holds ``folder.change_lock``.
    """
    document = read_json(folder.launch)
    record = Record.read(folder)
    if document is None or folder.is_supervised:
        return
    plan = GangPlan.from_json(document)
    if record and record.run == plan.run and record.is_final:
        return
    if _may_still_start(folder):
        return
    revivals = folder.revivals(plan.run)
    if revivals.exists():
        status = revivals.stat()
        if abs(time.time() - status.st_mtime) < START_SECONDS:  # the clock may have been set back
            return
        if status.st_size > plan.backoff_limit + SPARE_LIVES:
            _give_up(folder, plan)
            return
    # Counted before the start, so that a start that fails counts, too.
    with revivals.open("a") as file:
        file.write(".")
    start(folder)


def _give_up(folder: Folder, plan: GangPlan) -> None:
    """Record that a workload failed because its supervisors died again and again."""
    with folder.supervisor_lock.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        processes.kill_leftovers(folder.path)
        folder.secrets(plan.run).unlink(missing_ok=True)
        record = Record.read(folder)
        if record is None or record.run != plan.run:
            record = Record.from_plan(plan)
        log_lines = folder.supervisor_log.read_text(errors="replace").strip().split("\n")
        message = "Its supervisor died repeatedly"
        record.move(folder, Phase.FAILED, Reason.LOST, ": ".join([message, *log_lines[-1:]]))
