"""Finds and kills supervisors."""

import psutil

from engines.base import Launch
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for


def supervisor_of(rig: LocalRig, launched: Launch) -> psutil.Process:
    """Wait until a workload has a supervisor, and return its process."""
    lock = rig.folder(launched).supervisor_lock
    pid = wait_for(lambda: lock.exists() and lock.read_text().split()[:1])
    return psutil.Process(int(pid[0])) if pid else psutil.Process()


def kill_supervisor(rig: LocalRig, launched: Launch) -> None:
    """Kill the supervisor of a workload, and wait until it counts as unsupervised."""
    victim = supervisor_of(rig, launched)
    victim.kill()
    wait_for(lambda: not rig.folder(launched).is_supervised)
