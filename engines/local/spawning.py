"""The first process of a rank: limited and marked before the first instruction of its program, so
that whatever the program starts is, too."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from engines.local import marks
from engines.local.cgroups import Cgroup

Process = subprocess.Popen[bytes]


def spawn(
    argv: Sequence[str],
    *,
    variables: Mapping[str, str],
    work: Path,
    output: IO[bytes],
    cgroup: Cgroup,
    mark: int,
) -> tuple[Process, Cgroup]:
    """The process, and which of the control groups hold it."""
    reader, writer = os.pipe()

    def enter() -> None:  # in the new process; what it raised would not tell what is wrong
        os.write(writer, bytes(cgroup.enter()))
        marks.put_on(mark)

    with os.fdopen(reader, "rb") as report:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=work,
                env=variables,
                start_new_session=True,
                preexec_fn=enter,
            )
        finally:
            os.close(writer)
        return process, cgroup.held(report.read())
