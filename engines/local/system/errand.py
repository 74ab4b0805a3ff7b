"""Programs that a supervisor runs before the ranks start, such as git or pip."""

import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.layout import Folder
from engines.local.system import marks, processes

POLL_SECONDS = 0.5  # seconds between two checks of a program's progress


@dataclass(frozen=True)
class Errands:
    """Runs such programs.

    ``show_progress`` gets each new progress in words. ``wait`` returns after some seconds, or when
    something happens. If ``must_stop`` returns true, the program is killed.
    """

    folder: Folder
    show_progress: Callable[[str], None]
    wait: Callable[[float], None]
    must_stop: Callable[[], bool]

    def run(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        variables: Mapping[str, str],
        describe_progress: Callable[[str], str],
    ) -> tuple[int, str]:
        """Run a program, and return its exit code and output, which is appended to ``log``.

        ``describe_progress`` turns the output so far into words about the progress.
        """
        mark = marks.mark_for(self.folder.path)
        with log.open("ab") as output:
            begin = output.tell()
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=variables,
                start_new_session=True,
                preexec_fn=lambda: marks.apply(mark),
            )
        last_progress = ""
        try:
            while process.poll() is None and not self.must_stop():
                progress = describe_progress(_read_output(log, begin))
                if progress != last_progress:
                    last_progress = progress
                    self.show_progress(progress)
                self.wait(POLL_SECONDS)
        finally:
            processes.signal_group(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode, _read_output(log, begin)


def _read_output(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace")
