"""Something else holds SQLite's write lock: who reads goes on, who writes is told to come back."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.product import Trainyard
from tests.rest import Rest

pytestmark = pytest.mark.faults
WAIT = 3  # seconds that a change waits
VIEW = {"name": "mine", "query": ""}


@pytest.fixture(scope="module")
def trainyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainyard]:
    home: Path = tmp_path_factory.mktemp("home")
    product = Trainyard(home, WRITE_WAIT_SECONDS=str(WAIT))
    product.start()
    yield product
    product.stop()


@pytest.fixture
def rest(trainyard: Trainyard) -> Iterator[Rest]:
    with Rest(trainyard) as caller:
        yield caller


@pytest.fixture
def browser(trainyard: Trainyard) -> Iterator[httpx.Client]:
    cookies = trainyard.sign_in()
    token = next(value for name, value in cookies.items() if "csrf" in name)
    headers = {"X-CSRFToken": token}
    with httpx.Client(
        base_url=trainyard.url, cookies=cookies, headers=headers, timeout=30
    ) as client:
        yield client


def test_reading_goes_on_under_a_long_lock_and_changes_answer_503(
    trainyard: Trainyard, rest: Rest, browser: httpx.Client
) -> None:
    key = {"name": "made-under-a-lock"}
    path = trainyard.home / "trainyard.sqlite3"
    with (
        closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as other,
        ThreadPoolExecutor(12) as pool,
    ):
        other.execute("BEGIN IMMEDIATE")
        calls = [pool.submit(rest.http.post, "/access-keys", json=key) for _ in range(4)]
        posts = [pool.submit(browser.post, "/workloads/views/", data=VIEW) for _ in range(8)]
        began = time.monotonic()
        assert rest.http.get("/workloads").status_code == 200
        assert browser.get("/workloads/").status_code == 200
        assert time.monotonic() - began < WAIT, "no reading waits for a change"
        answers = [future.result(timeout=60) for future in (*calls, *posts)]
        assert time.monotonic() - began < 2 * WAIT, "those behind one another wait together"
        other.execute("ROLLBACK")
    assert {answer.status_code for answer in answers} == {503}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
    assert answers[0].json()["message"] == "The database is busy or out of reach"
    assert "The database is busy" in answers[-1].text
    assert not [
        it for it in rest.send("GET", "/access-keys")["accessKeys"] if it["name"] == key["name"]
    ]
    assert rest.http.post("/access-keys", json=key).status_code == 201
    assert browser.post("/workloads/views/", data=VIEW).status_code == 302
