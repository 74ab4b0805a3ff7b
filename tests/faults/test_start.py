"""``make run`` on a folder that does not serve: a sentence with what to do, and no traceback."""

from pathlib import Path

import pytest

from tests.disks import fill, protect, small_disk
from tests.product import Trainyard

pytestmark = pytest.mark.faults


def refusal(trainyard: Trainyard, tmp_path: Path) -> str:
    """What a start says that ends by itself."""
    trainyard.output = tmp_path / "terminal.txt"  # not on the disk in question
    trainyard.spawn()
    assert trainyard.manager is not None
    assert trainyard.manager.wait(40) == 1
    said = trainyard.terminal()
    assert "Traceback" not in said, said
    return said


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_a_start_on_a_full_disk(home: Path, tmp_path: Path) -> None:
    with small_disk(home, 4):
        fill(home)
        said = refusal(Trainyard(home), tmp_path)
    assert "No space left on device" in said
    assert "TRAINYARD_HOME=" in said


def test_a_start_on_a_disk_that_filled_up_since_the_last(home: Path, tmp_path: Path) -> None:
    with small_disk(home, 4):
        (home / "secret_key").write_text("k" * 50)
        fill(home)
        said = refusal(Trainyard(home), tmp_path)
    assert f"The disk is full ({home}). Free space" in said
    assert "Then start Trainyard again." in said
    assert "automatically" not in said


@pytest.mark.parametrize("key", ["", "k" * 50])
def test_a_start_on_a_read_only_disk(home: Path, tmp_path: Path, key: str) -> None:
    with small_disk(home, 4):
        if key:
            (home / "secret_key").write_text(key)
        protect(home)
        said = refusal(Trainyard(home), tmp_path)
    assert "ead-only" in said
    assert "ritable" in said


def test_a_start_on_a_damaged_database(home: Path, tmp_path: Path) -> None:
    (home / "trainyard.sqlite3").write_bytes(b"not a database at all " * 500)
    said = refusal(Trainyard(home), tmp_path)
    assert f"The database {home}/trainyard.sqlite3 cannot be used: file is not a database" in said
    assert "restore the last backup: docs/operations.md" in said


@pytest.mark.parametrize("key", [b"", b"\xff\xfe\x00" * 20, b"short"])
def test_a_start_with_a_damaged_key(home: Path, tmp_path: Path, key: bytes) -> None:
    (home / "secret_key").write_bytes(key)
    said = refusal(Trainyard(home), tmp_path)
    assert f"{home}/secret_key is damaged" in said
    assert (home / "secret_key").read_bytes() == key, "nobody replaces it"


def test_a_start_after_a_restore_that_was_cut_short(home: Path, tmp_path: Path) -> None:
    (home / "restore.unfinished").write_text("/backups/monday.tar.gz\n")
    said = refusal(Trainyard(home), tmp_path)
    assert f"A restore into {home} was interrupted" in said
    assert "manage.py restore /backups/monday.tar.gz --replace" in said
