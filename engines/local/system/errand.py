"""Programs that a supervisor runs before the ranks start, such as git or pip."""

import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.layout import Folder
from engines.local.system import marks, processes

LOOK = 0.5  # seconds between two checks of a program's progress


@dataclass(frozen=True)
class Errands:
    """Runs such programs.

    ``tell`` shows progress. ``wait`` returns after some seconds, or when something happens.
    ``is_over`` says that the result is no longer wanted; the program is then killed.
    """

    folder: Folder
    tell: Callable[[str], None]
    wait: Callable[[float], None]
    is_over: Callable[[], bool]

    def do(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        variables: Mapping[str, str],
        stage: Callable[[str], str],
    ) -> tuple[int, str]:
        """Run a program, and return its exit code and output, which also goes to ``log``.

        ``stage`` turns the output so far into words about the progress.
        """
        mark = marks.number(self.folder.path)
        with log.open("ab") as output:
            begin = output.tell()
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=variables,
                start_new_session=True,
                preexec_fn=lambda: marks.put_on(mark),
            )
        shown = ""
        try:
            while process.poll() is None and not self.is_over():
                now = stage(_said(log, begin))
                if now != shown:
                    shown = now
                    self.tell(now)
                self.wait(LOOK)
        finally:
            processes.signal_group(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode, _said(log, begin)


def _said(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace")
