import subprocess
from concurrent.futures import ThreadPoolExecutor

import psutil

from engines.local.system import processes


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
                return processes.environ(psutil.Process(started.pid))
            finally:
                started.kill()
