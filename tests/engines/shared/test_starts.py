"""A process is told from others under its number, also where the clock was set."""

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from engines.shared import starts


def test_a_process_is_itself_until_it_is_gone() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: S607 -- whichever sleep there is
        started = starts.start_of(process.pid)
        assert starts.is_same(process.pid, started)
        assert not starts.is_same(os.getpid(), started)
        process.kill()
    assert starts.start_of(process.pid) == ""
    assert not starts.is_same(process.pid, started)
    assert not starts.is_same(process.pid, "")


def test_a_name_with_spaces_and_brackets_is_no_trouble(tmp_path: Path) -> None:
    odd = tmp_path / "a) R 1 2 (3"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([odd, "60"]) as process:
        boot, ticks = starts.start_of(process.pid).split("/")
        process.kill()
    assert boot == starts.BOOT.read_text().strip()
    assert int(ticks) > 0


def test_the_same_number_of_another_boot_is_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = starts.start_of(os.getpid())
    other = tmp_path / "boot_id"
    other.write_text("another")
    monkeypatch.setattr(starts, "BOOT", other)
    assert not starts.is_same(os.getpid(), started)


def test_a_system_without_proc_tells_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starts, "BOOT", tmp_path / "none")
    started = starts.start_of(os.getpid())
    assert started == f"{psutil.Process().create_time():.3f}"
    assert starts.is_same(os.getpid(), started)
    assert starts.start_of(4_000_000) == ""
