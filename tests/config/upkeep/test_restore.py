"""An archive put in the place of what is there: whole, or not at all."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from config.run.home import Home, RestoreInterrupted, check_restore_finished
from config.upkeep import archive
from config.upkeep.archive import Manifest
from config.upkeep.backup import back_up
from config.upkeep.errors import UpkeepError
from config.upkeep.restore import Restoration, restore
from tests.config.upkeep.places import STREAM, Place
from tests.disks import needs_holes
from workloads.logs import store

pytestmark = pytest.mark.django_db  # for the list of migrations alone
Places = Callable[[str], Place]
LOG = "logs/00000000-0000-0000-0000-000000000007/0-0-0.log"


@pytest.fixture
def saved(place: Places, tmp_path: Path) -> Path:
    """An archive of an installation with one row, "old"."""
    place("old").filled("old")
    back_up(tmp_path / "backup.tar.gz")
    return tmp_path / "backup.tar.gz"


def rewritten(saved: Path, name: str, data: bytes) -> Path:
    """The archive with another file of this name, or one more."""
    with gzip.open(saved) as zipped, tarfile.open(fileobj=zipped) as tar:
        files = {it.name: file.read() for it in tar if (file := tar.extractfile(it))}
    saved.unlink()
    with archive.create_archive(saved) as writer:
        for kept_name, content in (files | {name: data}).items():
            writer.add_bytes(kept_name, content)
    return saved


def manifest_with(**fields: object) -> bytes:
    return json.dumps(json.loads(Manifest.now("SQLite", []).encode()) | fields).encode()


def test_an_empty_folder_becomes_the_installation_of_the_archive(
    place: Places, saved: Path
) -> None:
    key = place("old").key.read_text()
    new = place("new")
    restore(saved, replace=False)
    assert new.rows() == ["old"]
    assert new.log() == "old says hello\n"
    assert new.key.read_text() == key
    assert new.key.stat().st_mode & 0o777 == 0o600
    index = LOG.replace(".log", ".index")
    kept = {"trainyard.sqlite3", "secret_key", "secret_key.before-restore", LOG, index}
    assert new.files() == kept


def test_a_log_whose_head_was_cut_is_restored_without_it(place: Places, tmp_path: Path) -> None:
    place("old").filled("old")
    needs_holes(tmp_path)
    store.append(STREAM, b"a line of it\n" * 1_000_000)
    store.cut_head(STREAM, 100_000)
    back_up(tmp_path / "backup.tar.gz")
    first = store.first_offset(STREAM)
    size = store.size(STREAM)
    end = store.read_output(STREAM, 12_950_000, 99)
    place("new")
    restore(tmp_path / "backup.tar.gz", replace=False)
    assert (store.first_offset(STREAM), store.size(STREAM)) == (first, size)
    assert store.read_output(STREAM, 12_950_000, 99) == end
    assert STREAM.path.stat().st_blocks * 512 < size / 4, "what was cut takes no room"


def test_zeros_at_the_end_of_a_file_are_restored(place: Places, tmp_path: Path) -> None:
    place("old").filled("old")
    store.append(STREAM, bytes(archive.BLOCK * 2))
    log = STREAM.path.read_bytes()
    back_up(tmp_path / "backup.tar.gz")
    place("new")
    restore(tmp_path / "backup.tar.gz", replace=False)
    assert STREAM.path.read_bytes() == log


def test_only_its_owner_may_read_an_archive(saved: Path) -> None:
    assert saved.stat().st_mode & 0o777 == 0o600


def test_an_installation_is_replaced_only_if_asked_for(place: Places, saved: Path) -> None:
    new = place("new").filled("new")
    before = new.key.read_text()
    with pytest.raises(UpkeepError, match="is not empty"):
        restore(saved, replace=False)
    assert (new.rows(), new.log()) == (["new"], "new says hello\n")
    with closing(new.connect()) as open_still:
        open_still.execute("UPDATE things SET name = 'in the write-ahead log'")
        open_still.commit()
        restore(saved, replace=True)
        assert (new.rows(), new.log()) == (["old"], "old says hello\n")
    assert (new.home / "secret_key.before-restore").read_text() == before


def test_a_damaged_database_is_replaced(place: Places, saved: Path) -> None:
    new = place("new")
    new.database.write_bytes(b"no database " * 1000)
    with pytest.raises(UpkeepError, match="--replace"):
        restore(saved, replace=False)
    restore(saved, replace=True)
    assert new.rows() == ["old"]


def test_a_running_installation_is_left_alone(place: Places, saved: Path) -> None:
    new = place("new")
    running = Home(new.home)
    running.lock()
    with pytest.raises(UpkeepError, match=r"Trainyard runs on .* Stop it first"):
        restore(saved, replace=True)
    running.release()
    restore(saved, replace=True)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"format": 2}, "from a newer Trainyard: its format is 2"),
        ({"migrations": ["clusters.9999_moons"]}, "does not have clusters.9999_moons"),
        ({"database": "PostgreSQL"}, "The archive is of PostgreSQL, and DATABASE_URL names SQLite"),
        ({"moons": 3}, "manifest.json cannot be read"),
    ],
)
def test_an_archive_of_elsewhere_is_refused_in_words(
    place: Places, saved: Path, manifest: dict[str, object], words: str
) -> None:
    new = place("new").filled("new")
    rewritten(saved, archive.MANIFEST, manifest_with(**manifest))
    with pytest.raises(UpkeepError, match=words):
        restore(saved, replace=True)
    assert new.rows() == ["new"]


def test_migrations_of_an_app_that_is_switched_off_are_no_later_version(
    place: Places, saved: Path
) -> None:
    place("new")
    other = manifest_with(migrations=["socialaccount.0001_initial"])
    restore(rewritten(saved, archive.MANIFEST, other), replace=False)


def cut(data: bytes) -> bytes:
    return data[: len(data) - 40]


def flipped(data: bytes, at: int | None = None) -> bytes:
    at = len(data) // 2 if at is None else at
    return data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]


def test_a_damaged_archive_is_not_believed_about_itself(place: Places, saved: Path) -> None:
    place("new")
    later = manifest_with(migrations=["workloads.9999_later"])
    data = rewritten(saved, archive.MANIFEST, later).read_bytes()
    with pytest.raises(UpkeepError, match="from a newer Trainyard"):
        restore(saved, replace=True)
    saved.write_bytes(flipped(data, len(data) - 6))  # the checksum is of other bytes
    with pytest.raises(UpkeepError, match="is damaged"):
        restore(saved, replace=True)


@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b"a letter", lambda _: b""])
def test_a_damaged_archive_changes_nothing_and_leaves_nothing(
    place: Places, saved: Path, damage: Callable[[bytes], bytes]
) -> None:
    new = place("new").filled("new")
    before = new.files()
    saved.write_bytes(damage(saved.read_bytes()))
    with pytest.raises(UpkeepError, match=r"damaged|not a backup"):
        restore(saved, replace=True)
    assert (new.rows(), new.log(), new.files()) == (["new"], "new says hello\n", before)


@pytest.mark.parametrize("name", ["../key", "/etc/key", "logs/../secret_key", "logs/x/y", "run"])
def test_files_that_no_backup_has_are_refused(place: Places, saved: Path, name: str) -> None:
    new = place("new")
    with pytest.raises(UpkeepError, match="is not a backup of Trainyard: it holds"):
        restore(rewritten(saved, name, b"x"), replace=True)
    assert new.files() == {"secret_key"}


def test_a_link_in_an_archive_is_refused(place: Places, saved: Path) -> None:
    place("new")
    link = tarfile.TarInfo("logs")
    link.type = tarfile.SYMTYPE
    link.linkname = "/etc"
    with gzip.open(saved, "wb") as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        first = tarfile.TarInfo(archive.MANIFEST)
        text = manifest_with()
        first.size = len(text)
        tar.addfile(first, io.BytesIO(text))
        tar.addfile(link)
    with pytest.raises(UpkeepError, match="is not a backup of Trainyard: logs"):
        restore(saved, replace=True)


def test_an_interrupted_restore_prevents_starts_until_it_is_repeated(
    place: Places, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = place("new").filled("new")

    def killed(_: Restoration) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Restoration, "swap_keys", killed)
        with pytest.raises(KeyboardInterrupt):
            restore(saved, replace=True)
    with pytest.raises(RestoreInterrupted, match=f"manage.py restore {saved} --replace"):
        check_restore_finished(new.home)
    restore(saved, replace=True)
    check_restore_finished(new.home)
    assert (new.rows(), new.log()) == (["old"], "old says hello\n")


def test_a_key_of_the_environment_must_be_that_of_the_archive(
    place: Places, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = place("old").key.read_text().strip()
    new = place("new")
    monkeypatch.setenv("TRAINYARD_SECRET_KEY", "k" * 50)
    with pytest.raises(UpkeepError, match="TRAINYARD_SECRET_KEY is not the key of the archive"):
        restore(saved, replace=True)
    assert new.files() == {"secret_key"}
    monkeypatch.setenv("TRAINYARD_SECRET_KEY", key)
    restore(saved, replace=True)
    assert new.rows() == ["old"]
