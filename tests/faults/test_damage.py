"""A disk that turns read-only, and a database that is damaged, while Trainyard runs."""

import os
from pathlib import Path

import httpx
import pytest

from tests.disks import failing_disk
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

OUTAGE = "The database is busy or out of reach"


def database_state(trainyard: Trainyard) -> str:
    return str(trainyard.health()[1].get("checks", {}).get("database"))


def pages(trainyard: Trainyard, cookies: dict[str, str]) -> httpx.Client:
    token = {"X-CSRFToken": next(cookies[name] for name in cookies if "csrf" in name)}
    return httpx.Client(base_url=trainyard.url, cookies=cookies, headers=token, timeout=20)


def test_a_disk_that_turns_read_only_loses_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with failing_disk(home, 128) as disk:
        trainyard = Trainyard(home)
        trainyard.output = tmp_path / "terminal.txt"  # not on the disk in question
        trainyard.start()
        try:
            with Rest(trainyard) as rest, pages(trainyard, trainyard.sign_in()) as web:
                completed = rest.submit("completed", workers=1, command="echo before the error")
                rest.wait(completed, "Completed")
                wait_for(lambda: "before the error" in rest.log(completed), 20, "its log")
                disk.fail()
                refused = rest.http.post("/workloads/distributed", json=rest.document("refused"))
                assert refused.status_code == 503
                assert refused.json()["message"] == OUTAGE
                assert web.get(f"/workloads/{completed}/").status_code == 200
                assert "before the error" in rest.log(completed)
        finally:
            trainyard.stop()
        disk.repair()
        trainyard.start()
        try:
            with Rest(trainyard) as rest:
                assert rest.phase(completed) == "Completed"
                again = rest.submit("again", workers=1, command="echo it is mended")
                assert rest.wait(again, "Completed", "Failed") == "Completed"
        finally:
            trainyard.stop()


def damage(database: Path) -> None:
    """Every page of it, and what was not yet written into it."""
    for path in (database, database.with_name(f"{database.name}-wal")):
        with path.open("r+b") as file:
            file.write(os.urandom(path.stat().st_size))


def test_a_damaged_database_is_reported_and_restored(tmp_path: Path) -> None:
    home = tmp_path / "home"
    archive = str(tmp_path / "backup")
    home.mkdir()
    trainyard = Trainyard(home)
    trainyard.output = tmp_path / "terminal.txt"
    trainyard.start()
    try:
        with Rest(trainyard) as rest, pages(trainyard, trainyard.sign_in()) as web:
            running = rest.submit("running", workers=1, command="sleep 600")
            rest.wait(running, "Running")
            trainyard.manage("backup", archive)
            damage(home / "trainyard.sqlite3")
            wait_for(lambda: database_state(trainyard) == "down", 30, "the damage to be reported")
            page = web.get("/workloads/")
            assert (page.status_code, OUTAGE in page.text) == (503, True)
            refused = rest.http.post("/workloads/distributed", json=rest.document("refused"))
            assert refused.status_code == 503
    finally:
        trainyard.stop()
    trainyard.manage("restore", archive, "--replace")
    trainyard.start()
    try:
        with Rest(trainyard) as rest:
            assert rest.phase(running) == "Running", "the training did not notice"
            rest.act(running, "suspend")
            assert rest.wait(running, "Stopped") == "Stopped"
    finally:
        trainyard.stop()
