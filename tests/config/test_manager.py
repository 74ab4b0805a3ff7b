"""What the manager keeps: one log per process, one owner per data folder."""

import json
import os
import subprocess
from pathlib import Path

import psutil
import pytest

from config.run.home import Home, Occupied
from config.run.programs import table as programs
from config.run.programs.logs import MAX_BYTES, LogFile
from config.run.programs.manager import Manager, NotReady, RunningProgram, describe_exit
from config.run.programs.table import Address, Program
from engines.shared import starts
from tests.waiting import wait_for


def test_the_manager_shows_only_complaints_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    path.write_text("2026 ERROR of an earlier start\n")
    log = LogFile(path)
    with path.open("a") as file:
        file.write("2026 INFO all well\n2026 ERROR web: broken\nValueError: 3\n2026 ERR")
    assert list(log.new_errors()) == ["2026 ERROR web: broken", "ValueError: 3"]
    with path.open("a") as file:
        file.write("OR web: again\n")
    assert list(log.new_errors()) == ["2026 ERROR web: again"]
    assert list(log.new_errors()) == []


def test_a_large_log_is_set_aside(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "web.log")
    with log.path.open("ab") as program:
        program.truncate(MAX_BYTES + 1)
        log.rotate()
        program.write(b"2026 ERROR after\n")
    assert log.path.read_bytes() == b"2026 ERROR after\n"
    assert (tmp_path / "web.log.1").stat().st_size == MAX_BYTES + 1
    assert list(log.new_errors()) == ["2026 ERROR after"]


def test_a_data_folder_has_a_single_owner(tmp_path: Path) -> None:
    first = Home(tmp_path)
    first.lock()
    first.write("http://127.0.0.1:8000", {})
    with pytest.raises(Occupied, match=rf"8000 \(process {os.getpid()}\)"):
        Home(tmp_path).lock()
    first.release()
    next_one = Home(tmp_path)
    next_one.lock()
    next_one.release()


def test_a_process_id_used_again_is_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = psutil.Process()
    for started in (f"{starts.start_of(other.pid)}1", other.create_time() - 60, ""):
        record = {"processes": {"web": {"pid": other.pid, "started": started}}}
        home.record_path.write_text(json.dumps(record))
        assert home.end_leftovers() == []


@pytest.mark.parametrize("record", ["", "[]", '{"processes": {"web": {"pid": 4000000}}}'])
def test_a_broken_record_stops_nothing(tmp_path: Path, record: str) -> None:
    home = Home(tmp_path)
    home.record_path.write_text(record)
    assert home.end_leftovers() == []


def test_leftovers_are_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    child = subprocess.Popen(["sleep", "60"])  # noqa: S607 -- any sleep will do
    home.write("", {"web": psutil.Process(child.pid)})
    assert home.end_leftovers() == ["web"]
    child.wait(1)


def test_a_crashing_program_waits_longer_each_time(tmp_path: Path) -> None:
    running = RunningProgram(Program("web", ["false"]), tmp_path, dict(os.environ))
    delays = []
    for _ in range(3):
        running.process.wait()
        assert not running.restart_if_ended()
        delays.append(running.delay)
        wait_for(running.restart_if_ended, message="the next start")
    running.stop()
    assert delays == [1.0, 2.0, 4.0]


def test_a_program_that_does_not_come_up_shows_its_log(tmp_path: Path) -> None:
    manager = Manager(Home(tmp_path), "", dict(os.environ))
    program = Program("web", ["sh", "-c", "echo no such thing; exit 3"], is_ready=lambda: False)
    with pytest.raises(NotReady, match=r"web ended with exit code 3[^$]*no such thing"):
        manager.start([program])
    manager.stop()


def test_a_deaf_program_is_killed(tmp_path: Path) -> None:
    deaf = Program("web", ["sh", "-c", "trap '' TERM; echo deaf; sleep 60"], patience=0.1)
    running = RunningProgram(deaf, tmp_path, dict(os.environ))
    wait_for(lambda: "deaf" in running.log.tail(), message="the trap")
    running.stop()
    assert describe_exit(running.process.returncode) == "was killed by SIGKILL"


def test_the_url_of_an_address_is_one_to_visit() -> None:
    assert Address("127.0.0.1", 8000).url == "http://127.0.0.1:8000"
    assert Address("::", 80).url == "http://[::1]:80"
    assert Address("::1", 8000).url == "http://[::1]:8000"


def test_a_broker_that_cannot_read_its_file_says_where_it_lies(tmp_path: Path) -> None:
    home = Home(tmp_path)
    broker = programs.broker_program(tmp_path)
    manager = Manager(home, "", dict(os.environ))
    manager.start([broker])
    manager.stop()
    (file,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(b"\0" * 100)
    try:
        with pytest.raises(NotReady, match=f"move the folder {tmp_path}/valkey away"):
            manager.start([broker])
    finally:
        manager.stop()
    assert file.exists()
