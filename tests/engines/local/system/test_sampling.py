import subprocess
import sys
import time
from pathlib import Path

import psutil

from engines.local.system.sampling import Sampler
from tests.waiting import wait_for


def test_a_rank_that_has_ended_gets_no_sample(tmp_path: Path) -> None:
    """Its process is there until the supervisor waits for it, and charts fell to 0 at their end."""
    sampler = Sampler(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as rank:
        running = sampler.measure({0: rank.pid}, clock=time.monotonic())
        assert running[0].memory > 0
        assert rank.stdin
        rank.stdin.close()
        process = psutil.Process(rank.pid)
        wait_for(lambda: process.status() == psutil.STATUS_ZOMBIE, 30, "its end")
        assert sampler.measure({0: rank.pid}, clock=time.monotonic()) == {}
