"""Puts folders and files at the paths that a rank expects, visible to this rank only (Linux).

A process gets a mount namespace of its own: directly as root, or else in a user namespace if the
kernel allows it. Missing folders of a path are created, in memory if they would be in ``/``.

The module is also a program for machines that have Python, but not Trainyard. It imports nothing of
ours, and needs Python 3.7.
"""

from __future__ import annotations  # for older releases of Python

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

NEW_MOUNTS = 0x20000
NEW_USER = 0x10000000
READ_ONLY = 1
REMOUNT = 32
BIND = 4096
MOVE = 8192
RECURSIVE = 16384
SLAVE = 1 << 19
DETACH = 2
#: Flags that a user namespace must not remove from a mount: that of ``statvfs``, that of ``mount``.
LOCKED_FLAGS = ((2, 2), (4, 4), (8, 8), (1024, 1024), (2048, 2048), (4096, 1 << 21))


@dataclass(frozen=True)
class Binding:
    """A folder or a file that is mounted at ``target``. Without ``source`` it is a folder in memory
    of at most ``limit`` bytes."""

    target: str
    source: str = ""
    read_only: bool = False
    limit: int | None = None


def try_mounts(bindings: Sequence[Binding], scratch: Path) -> str:
    """Try the bindings in another process. Returns why they are impossible here; empty if they
    work."""
    if not bindings:
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            enter_mounts(bindings, scratch)
        except Exception as error:
            os.write(writer, str(error).encode()[:4000] or b"?")
        finally:
            os._exit(0)  # without cleaning up what belongs to the parent
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        error_text = report.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if error_text:
        return error_text
    return f"ended with {status}" if status else ""


@lru_cache(maxsize=1)
def why_no_mounts() -> str:
    """Return why the ranks of this machine cannot have mounts of their own; empty if they can. A
    new process tries it, because one with threads must not fork."""
    command = [sys.executable, __file__]
    trial = subprocess.run(command, capture_output=True, text=True, check=False)
    return (trial.stdout or trial.stderr).strip()


def enter_mounts(bindings: Sequence[Binding], scratch: Path) -> None:
    """Give this process, and everything that it starts, mounts of its own.

    ``scratch`` is an empty folder outside all targets. Raises ``OSError`` if the system does not
    allow mounts.
    """
    _enter_namespaces()
    # Later mounts of the system show in this namespace, and ours do not show outside.
    _mount(None, "/", RECURSIVE | SLAVE)
    # Outer targets come before those inside them, which they would hide otherwise.
    ordered = sorted(bindings, key=lambda binding: Path(binding.target).parts)
    targets = {Path(binding.target) for binding in ordered}
    files = {binding for binding in ordered if Path(binding.source).is_file()}
    for binding in ordered:
        if not targets & set(Path(binding.target).parents):
            _create_mount_point(Path(binding.target), scratch, a_file=binding in files)
    # Opened before the first mount, which may hide the path of another source.
    sources = {binding: os.open(binding.source, os.O_PATH) for binding in ordered if binding.source}
    for binding in ordered:
        # A target inside another one can only be created once the outer one is mounted.
        _create_target(Path(binding.target), a_file=binding in files)
        _bind(binding, sources.get(binding))
    for number in sources.values():
        os.close(number)


def _bind(binding: Binding, source: int | None) -> None:
    """Mount the folder with the file descriptor ``source``, or memory if that is ``None``."""
    if source is None:
        size = f",size={binding.limit}" if binding.limit else ""
        _mount("tmpfs", binding.target, 0, kind="tmpfs", options=f"mode=0700{size}")
    else:
        _mount(f"/proc/self/fd/{source}", binding.target, BIND | RECURSIVE)
    if binding.read_only:
        flags = BIND | REMOUNT | READ_ONLY | _locked_flags(binding.target)
        _mount(None, binding.target, flags)


def _enter_namespaces() -> None:
    uid = os.geteuid()
    gid = os.getegid()
    if uid == 0 and not _libc().unshare(NEW_MOUNTS):
        return
    _call_libc("unshare", NEW_USER | NEW_MOUNTS)
    with suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _create_mount_point(target: Path, scratch: Path, *, a_file: bool) -> None:
    """Create the file or folder to mount on, if it is missing.

    In ``/``, and where this user cannot create it, the nearest existing folder is covered by one in
    memory that shows the same content.
    """
    if target.exists():
        return
    nearest = next(folder for folder in target.parents if folder.is_dir())
    if nearest == Path("/") or not os.access(nearest, os.W_OK):
        _cover_folder(nearest, scratch)
    _create_target(target, a_file=a_file)


def _create_target(target: Path, *, a_file: bool) -> None:
    if target.exists():
        return
    if a_file:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    else:
        target.mkdir(parents=True, exist_ok=True)


def _cover_folder(folder: Path, scratch: Path) -> None:
    """Cover a folder by one in memory that shows the same content and accepts new names."""
    _mount("tmpfs", str(scratch), 0, kind="tmpfs", options="mode=0755")
    for entry in os.scandir(folder):
        copy = scratch / entry.name
        if entry.is_symlink():
            copy.symlink_to(Path(entry.path).readlink())
            continue
        if entry.is_dir():
            copy.mkdir()
        else:
            copy.touch()
        with suppress(PermissionError):  # the rank could not open it either
            _mount(entry.path, str(copy), BIND | RECURSIVE)
    if folder != Path("/"):
        _mount(str(scratch), str(folder), MOVE)
        return
    # The root cannot be covered, only exchanged: the old one is put on the new one, and detached.
    os.chdir(scratch)
    _call_libc("pivot_root", b".", b".")
    _call_libc("umount2", b".", DETACH)
    os.chdir("/")


def _locked_flags(target: str) -> int:
    """Return the flags of a mount that a remount must repeat."""
    current = os.statvfs(target).f_flag
    return sum(mount_flag for statvfs_flag, mount_flag in LOCKED_FLAGS if current & statvfs_flag)


def _mount(
    source: str | None, target: str, flags: int, *, kind: str | None = None, options: str = ""
) -> None:
    words = (os.fsencode(word) if word else None for word in (source, target, kind))
    _call_libc("mount", *words, flags, options=options.encode() or None, about=target)


def _call_libc(
    name: str, *values: bytes | int | None, options: bytes | None = b"", about: str = ""
) -> None:
    """Call a function of libc. Raises ``OSError`` about the path ``about`` if it fails."""
    function = getattr(_libc(), name, None)
    if function is None:
        raise OSError(f"this system has no {name}")
    arguments: list[object] = [
        ctypes.c_ulong(value) if isinstance(value, int) else value for value in values
    ]
    if name == "mount":
        arguments.append(options)
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about or name)


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _report_trial() -> None:
    """Print why a mount fails; nothing if it works."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder, "scratch")
        scratch.mkdir()
        print(try_mounts([Binding(folder, folder)], scratch), end="")  # noqa: T201 -- its answer


def _become_program(words: list[str]) -> None:
    """Enter mounts and become a program.

    ``words`` are the file for a report, an empty folder and the working directory; a mode, a source
    and a target for each mount; then ``--`` and the command. A mode is ``rw``, ``ro`` or
    ``memory``, whose source is the limit in bytes, or nothing. The report says why it is
    impossible.
    """
    report, scratch, working_dir, *words = words
    end = words.index("--")
    mounts = zip(words[0:end:3], words[1:end:3], words[2:end:3])  # noqa: B905 -- of Python 3.10
    try:
        enter_mounts([_binding_of(*mount) for mount in mounts], Path(scratch))
    except OSError as error:
        Path(report).write_text(f"{error}\n")
        raise SystemExit(1) from error
    try:
        os.chdir(working_dir)
    except OSError as error:
        raise SystemExit(f"{working_dir}: {error.strerror}") from error
    os.execvp(words[end + 1], words[end + 1 :])  # noqa: S606 -- the rank's own program


def _binding_of(mode: str, source: str, target: str) -> Binding:
    if mode == "memory":
        return Binding(target, limit=int(source) if source else None)
    return Binding(target, source, read_only=mode == "ro")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _become_program(sys.argv[1:])
    else:
        _report_trial()
