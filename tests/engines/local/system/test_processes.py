import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from engines.local.system import marks, processes
from engines.shared.starts import start_of
from tests.waiting import wait_for

#: Its first thread ends (by exit, which is not exit_group), and the other one runs.
HEADLESS = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""


@pytest.fixture
def headless(tmp_path: Path) -> Iterator[psutil.Process]:
    """A process of the workload in this folder that goes on without its first thread."""
    mark = marks.mark_for(tmp_path, 0)
    with subprocess.Popen(
        [sys.executable, "-c", HEADLESS], preexec_fn=lambda: marks.apply(mark)
    ) as started:
        process = psutil.Process(started.pid)
        try:
            wait_for(lambda: process.status() == psutil.STATUS_ZOMBIE)
            yield process
        finally:
            started.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone shows it so")
class TestWithoutItsFirstThread:
    """As a process looks while others of its threads give the memory of a GPU back."""

    def test_a_process_is_alive_while_a_thread_of_it_runs(self, headless: psutil.Process) -> None:
        assert processes.is_alive(headless.pid, start_of(headless.pid))

    def test_a_sweep_waits_for_the_last_thread(
        self, headless: psutil.Process, tmp_path: Path
    ) -> None:
        assert [it.pid for it in processes.find_processes(tmp_path)] == [headless.pid]
        assert processes.kill_leftovers(tmp_path)
        assert headless.num_threads() == 1
        assert processes.has_ended(headless)
        assert not processes.is_alive(headless.pid, start_of(headless.pid))


class TestEnviron:
    def test_has_the_variables_of_programs_that_are_only_just_starting(self) -> None:
        """Read at once, on busy processors: many are still in the middle of becoming ``sleep``."""
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(self.of_started, [{"RANK": "1"}] * 400))
        assert found == [{"RANK": "1"}] * 400

    def test_has_none_where_there_are_none(self) -> None:
        assert self.of_started({}) == {}

    @staticmethod
    def of_started(variables: dict[str, str]) -> dict[str, str]:
        with subprocess.Popen(["/bin/sleep", "60"], env=variables) as started:
            try:
                return processes.read_environment(psutil.Process(started.pid))
            finally:
                started.kill()
