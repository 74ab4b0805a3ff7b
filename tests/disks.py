"""A small disk of its own for a test, which can be filled and write-protected."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.shared.holes import free_head

BLOCK = 64 * 1024


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A tmpfs of that size. The test is skipped where nothing can be mounted."""
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("there is no mount on this machine")
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "trainyard-test", str(folder)]
    done = subprocess.run([mount, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607 -- beside mount


@contextmanager
def failing_disk(folder: Path, megabytes: int) -> Iterator["FailingDisk"]:
    """A disk whose file system can be made to meet an error. The test is skipped where the system
    has none to spare."""
    disk = FailingDisk(folder, folder.with_name(f"{folder.name}.img"))
    with disk.image.open("wb") as file:
        file.truncate(megabytes * 1024**2)
    if not (shutil.which("mkfs.ext4") and Path("/dev/loop-control").exists()):
        pytest.skip("there is no ext4 or no loop device on this machine")
    subprocess.run(["mkfs.ext4", "-q", "-F", disk.image], check=True)  # noqa: S607
    if said := disk.mount():
        pytest.skip(f"a disk of its own cannot be mounted here: {said}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607


@dataclass(frozen=True)
class FailingDisk:
    """A file with ext4 on it, which turns read-only at its first error as most systems have it."""

    folder: Path
    image: Path

    def mount(self) -> str:
        """Why it cannot be; empty once it is."""
        options = ["-o", "loop,errors=remount-ro", str(self.image), str(self.folder)]
        done = subprocess.run(
            ["mount", *options],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr.strip() if done.returncode else ""

    def fail(self) -> None:
        """The kernel meets an error on it, and refuses all writes from now on. What was written
        until now is on it; otherwise the last seconds are lost, as by a power cut."""
        subprocess.run(["sync", "--file-system", self.folder], check=True)  # noqa: S607
        number = self.folder.stat().st_dev
        device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")

    def repair(self) -> None:
        subprocess.run(["umount", self.folder], check=True)  # noqa: S607
        subprocess.run(["e2fsck", "-p", "-f", self.image], check=False)  # noqa: S607 -- 1: repaired
        assert not self.mount()


def protect(folder: Path) -> None:
    """From now on this disk is read-only."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)  # noqa: S607


def fill(folder: Path) -> Path:
    """A file that leaves no byte."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        size = BLOCK
        while size:
            try:
                file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
    return path


def needs_holes(folder: Path) -> None:
    """Skip where the file system gives back no part of a file."""
    probe = folder / "probe"
    probe.write_bytes(b"x")
    if not free_head(probe, 1):
        pytest.skip("this file system gives back no part of a file")
