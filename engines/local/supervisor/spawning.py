"""Starts the first process of a rank. Limits and mark are set before its program starts, so that
they also hold for everything that the program starts."""

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from engines.local.system import marks
from engines.local.system.cgroups import Cgroup
from engines.local.volumes import private
from engines.local.volumes.view import View

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
    """Start a process; returns it with its control groups. ``OSError`` names the path that is
    wrong."""
    reader, writer = os.pipe()

    def enter() -> None:  # runs in the new process, whose exceptions do not reach this one
        os.write(writer, bytes(cgroup.enter()))
        marks.put_on(mark)
        if view.bindings:
            _look_through(view, writer)

    with os.fdopen(reader, "rb") as report:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=None if view.bindings else view.work,
                env=variables,
                start_new_session=True,
                preexec_fn=enter,
            )
        except subprocess.SubprocessError as error:  # does not say what was raised there
            os.close(writer)
            place, _, why = report.read()[len(cgroup.folders) :].decode().partition("\0")
            raise OSError(errno.ENOENT, why or str(error), place or None) from error
        except OSError:
            os.close(writer)
            raise
        os.close(writer)
        return process, cgroup.held(report.read())


def _look_through(view: View, report: int) -> None:
    """Set up the rank's mounts for this process. Errors are written to ``report``, too."""
    try:
        private.enter(view.bindings, view.scratch)
        os.chdir(view.work)
    except OSError as error:
        os.write(report, f"{error.filename or ''}\0{error.strerror or error}".encode())
        raise
