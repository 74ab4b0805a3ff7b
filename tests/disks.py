"""Small disks for tests, which can be filled, write-protected, or made to fail."""

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
    """Mount a tmpfs of this size. The test is skipped if nothing can be mounted here."""
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
        subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607 -- comes with mount


@contextmanager
def failing_disk(folder: Path, megabytes: int) -> Iterator["FailingDisk"]:
    """Mount a disk whose file system can be made to fail. The test is skipped if that is not
    possible here."""
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
    """A file with ext4 on it. It becomes read-only at its first error, as on most systems."""

    folder: Path
    image: Path

    def mount(self) -> str:
        """Mount the disk. Returns why that fails; empty if it does not."""
        options = ["-o", "loop,errors=remount-ro", str(self.image), str(self.folder)]
        done = subprocess.run(
            ["mount", *options],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr.strip() if done.returncode else ""

    def fail(self) -> None:
        """Trigger an error in the kernel, which then refuses all writes.

        What was written before stays: it is flushed first, or the last seconds would be lost as in
        a power cut.
        """
        subprocess.run(["sync", "--file-system", self.folder], check=True)  # noqa: S607
        number = self.folder.stat().st_dev
        device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")

    def repair(self) -> None:
        """Check the file system, and mount it again."""
        subprocess.run(["umount", self.folder], check=True)  # noqa: S607
        subprocess.run(["e2fsck", "-p", "-f", self.image], check=False)  # noqa: S607 -- 1: repaired
        assert not self.mount()


def protect(folder: Path) -> None:
    """Mount a disk again, as read-only."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)  # noqa: S607


def fill(folder: Path) -> Path:
    """Write a file that takes all free space, and return it."""
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
    """Skip the test if the file system cannot free a part of a file."""
    probe = folder / "probe"
    probe.write_bytes(b"x")
    if not free_head(probe, 1):
        pytest.skip("this file system gives back no part of a file")
