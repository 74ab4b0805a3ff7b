"""Starts the first process of a rank. Limits and mark are set before its program starts, so that
they also hold for everything that the program starts."""

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from engines.local.system import marks
from engines.local.system.cgroups import Cgroup
from engines.local.volumes.view import View
from engines.shared import mounts

Process = subprocess.Popen[bytes]


def spawn(
    argv: Sequence[str],
    *,
    variables: Mapping[str, str],
    view: View,
    output: IO[bytes],
    cgroup: Cgroup,
    mark: int,
) -> tuple[Process, Cgroup]:
    """Start a process, and return it with the control groups that it is in.

    Raises ``OSError``, which names the wrong path.
    """
    # The new process reports by a pipe, because its exceptions do not reach this one: a byte for
    # each control group, then an error if there is one.
    reader, writer = os.pipe()

    def enter() -> None:
        os.write(writer, bytes(cgroup.enter()))
        marks.apply(mark)
        if view.bindings:
            _enter_view(view, writer)

    with os.fdopen(reader, "rb") as report:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=None if view.bindings else view.working_dir,
                env=variables,
                start_new_session=True,
                preexec_fn=enter,
            )
        except subprocess.SubprocessError as error:
            os.close(writer)  # or the read below would wait for this process
            path, _, reason = report.read()[len(cgroup.folders) :].decode().partition("\0")
            raise OSError(errno.ENOENT, reason or str(error), path or None) from error
        except OSError:
            os.close(writer)
            raise
        os.close(writer)
        return process, cgroup.keep_entered(report.read())


def _enter_view(view: View, report: int) -> None:
    """Set up the rank's mounts for this process. Errors are also written to ``report``."""
    try:
        mounts.enter_mounts(view.bindings, view.scratch)
        os.chdir(view.working_dir)
    except OSError as error:
        os.write(report, f"{error.filename or ''}\0{error.strerror or error}".encode())
        raise
