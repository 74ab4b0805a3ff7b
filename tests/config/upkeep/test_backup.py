"""One archive of an installation that goes on writing."""

import re
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command

from config.upkeep.backup import back_up
from config.upkeep.errors import UpkeepError
from config.upkeep.restore import restore
from tests.config.upkeep.places import STREAM, Place
from tests.waiting import wait_for
from workloads.logs import store

pytestmark = pytest.mark.django_db  # for the list of migrations alone
Places = Callable[[str], Place]


class Writer(threading.Thread):
    """Moves a token between two tables, and adds a line to the log, as fast as it can."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.ended = threading.Event()
        self.rounds = 0

    def run(self) -> None:
        with closing(self.place.connect()) as database:
            while not self.ended.is_set():
                with database:
                    database.execute("UPDATE left_side SET tokens = tokens - 1")
                    database.execute("UPDATE right_side SET tokens = tokens + 1")
                self.rounds += 1
                store.append(STREAM, f"round {self.rounds:09}\n".encode())


def tokens(database: sqlite3.Connection) -> tuple[int, int]:
    (left,) = database.execute("SELECT tokens FROM left_side").fetchone()
    (right,) = database.execute("SELECT tokens FROM right_side").fetchone()
    return left, right


def test_a_backup_is_of_one_moment_while_others_write(place: Places, tmp_path: Path) -> None:
    busy = place("busy")
    with closing(busy.connect()) as database, database:
        for side in ("left_side", "right_side"):
            database.execute(f"CREATE TABLE {side} AS SELECT 0 AS tokens")
        database.execute("CREATE TABLE ballast AS SELECT randomblob(4000000) AS bytes")
    writer = Writer(busy)
    writer.start()
    try:
        wait_for(lambda: writer.rounds > 20, message="the writer")
        before = writer.rounds
        back_up(tmp_path / "backup")
        after = writer.rounds
    finally:
        writer.ended.set()
        writer.join()
    assert after > before, "the writer was kept waiting"
    copy = place("copy")
    restore(tmp_path / "backup", replace=False)
    with closing(copy.connect()) as database:
        left, right = tokens(database)
    assert left == -right
    assert before <= right <= after
    size = store.size(STREAM)
    lines = store.read_output(STREAM, 0, size).decode().splitlines()
    assert lines == [f"round {number:09}" for number in range(1, len(lines) + 1)]
    assert len(lines) >= before
    assert store.append(STREAM, b"goes on\n", offset=size)


def test_a_file_that_is_there_already_is_not_written_over(place: Places, tmp_path: Path) -> None:
    place("home").filled("row")
    path = tmp_path / "backup"
    path.write_text("something else")
    with pytest.raises(UpkeepError, match="exists already"):
        back_up(path)
    assert path.read_text() == "something else"


def test_the_size_of_a_small_archive_has_a_fitting_unit(
    place: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place("home").filled("row")
    call_command("backup", str(tmp_path / "backup"))
    assert re.search(r"backup \([1-9][\d.]* K?B\)\.", capsys.readouterr().out)


def test_a_backup_that_fails_leaves_nothing(place: Places, tmp_path: Path) -> None:
    home = place("home").filled("row")
    home.database.write_bytes(b"no database " * 1000)
    folder = tmp_path / "backups"
    folder.mkdir()
    with pytest.raises(UpkeepError, match=r"The database .* cannot be read"):
        back_up(folder / "backup")
    assert list(folder.iterdir()) == []
