"""Puts folders and files at the paths that a rank expects, visible to this rank only (Linux).

A process gets a mount namespace of its own: as root, or else in a user namespace if the kernel
allows it. Missing folders on the way to a path are created, in memory if they would be in ``/``.
"""

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
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
#: Flags of ``statvfs`` → of ``mount``, which a user namespace must not remove from a mount.
KEPT = ((2, 2), (4, 4), (8, 8), (1024, 1024), (2048, 2048), (4096, 1 << 21))


@dataclass(frozen=True)
class Binding:
    """A folder or a file to be seen at ``place``. Without ``source`` it is a folder in memory,
    which can hold ``limit`` bytes."""

    place: str
    source: str = ""
    read_only: bool = False
    limit: int | None = None


def trial(bindings: Sequence[Binding], scratch: Path) -> str:
    """Try the bindings in another process. Returns why they are impossible here; empty if they
    work."""
    if not bindings:
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            enter(bindings, scratch)
        except Exception as error:
            os.write(writer, str(error).encode()[:4000] or b"?")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        said = report.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return said or (f"ended with {status}" if status else "")


def enter(bindings: Sequence[Binding], scratch: Path) -> None:
    """Give this process, and everything that it starts, mounts of its own.

    ``scratch`` is an empty folder outside all places. Raises ``OSError`` if the system does not
    allow it.
    """
    _namespaces()
    _mount(None, "/", RECURSIVE | SLAVE)  # later mounts of the system show here, and ours not there
    ordered = sorted(bindings, key=lambda it: Path(it.place).parts)
    places = {Path(it.place) for it in ordered}
    files = {it for it in ordered if Path(it.source).is_file()}
    for binding in ordered:
        if not places & set(Path(binding.place).parents):
            _way_to(Path(binding.place), scratch, a_file=binding in files)
    sources = {it: os.open(it.source, os.O_PATH) for it in ordered if it.source}
    for binding in ordered:
        _make(Path(binding.place), a_file=binding in files)  # in another volume
        _bind(binding, sources.get(binding))
    for number in sources.values():
        os.close(number)


def _bind(binding: Binding, source: int | None) -> None:
    if source is None:
        size = f",size={binding.limit}" if binding.limit else ""
        _mount("tmpfs", binding.place, 0, kind="tmpfs", options=f"mode=0700{size}")
    else:  # by its number: another volume may hide its path by now
        _mount(f"/proc/self/fd/{source}", binding.place, BIND | RECURSIVE)
    if binding.read_only:
        _mount(None, binding.place, BIND | REMOUNT | READ_ONLY | _kept(binding.place))


def _namespaces() -> None:
    uid = os.geteuid()
    gid = os.getegid()
    if uid == 0 and not _libc().unshare(NEW_MOUNTS):
        return
    _call("unshare", NEW_USER | NEW_MOUNTS)
    with suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _way_to(place: Path, scratch: Path, *, a_file: bool) -> None:
    """Create the place to mount on, if it is missing.

    In ``/``, and where this user cannot create it, the nearest existing folder is covered by one in
    memory that shows the same content.
    """
    if place.exists():
        return
    there = next(folder for folder in place.parents if folder.is_dir())
    if there == Path("/") or not os.access(there, os.W_OK):
        _cover(there, scratch)
    _make(place, a_file=a_file)


def _make(place: Path, *, a_file: bool) -> None:
    if place.exists():
        return
    (place.parent if a_file else place).mkdir(parents=True, exist_ok=True)
    if a_file:
        place.touch()


def _cover(folder: Path, scratch: Path) -> None:
    """Cover a folder by one in memory that shows the same content and accepts new names."""
    _mount("tmpfs", str(scratch), 0, kind="tmpfs", options="mode=0755")
    for entry in os.scandir(folder):
        shown = scratch / entry.name
        if entry.is_symlink():
            shown.symlink_to(Path(entry.path).readlink())
            continue
        shown.mkdir() if entry.is_dir() else shown.touch()
        with suppress(PermissionError):  # the rank could not look into it either
            _mount(entry.path, str(shown), BIND | RECURSIVE)
    if folder != Path("/"):
        _mount(str(scratch), str(folder), MOVE)
        return
    os.chdir(scratch)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", DETACH)
    os.chdir("/")


def _kept(place: str) -> int:
    flags = os.statvfs(place).f_flag
    return sum(kept for shown, kept in KEPT if flags & shown)


def _mount(
    source: str | None, target: str, flags: int, *, kind: str | None = None, options: str = ""
) -> None:
    words = (os.fsencode(word) if word else None for word in (source, target, kind))
    _call("mount", *words, flags, options=options.encode() or None, about=target)


def _call(
    name: str, *values: bytes | int | None, options: bytes | None = b"", about: str = ""
) -> None:
    function = getattr(_libc(), name, None)
    if function is None:
        raise OSError(f"this system has no {name}")
    given: Iterator[object] = (ctypes.c_ulong(it) if isinstance(it, int) else it for it in values)
    if function(*given, *([options] if name == "mount" else [])):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about or name)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
