"""``kill -9`` of the web process between a submission and its answer: sent again with its key, it
is one workload."""

import sqlite3
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic

import httpx
import pytest

from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

STORED = "SELECT count(*) FROM workloads_workload WHERE name = ?"


def stored(trainyard: Trainyard, name: str) -> int:
    """How many workloads the database holds by now, asked of itself."""
    (file,) = trainyard.home.glob("*.sqlite3")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10) as database:
        count: int = database.execute(STORED, (name,)).fetchone()[0]
    return count


def post(rest: Rest, name: str) -> httpx.Response:
    body = rest.document(name, workers=1, command="true")
    headers = {"Idempotency-Key": f"key of {name}"}
    return rest.http.post("/workloads/distributed", json=body, headers=headers)


@pytest.mark.parametrize("moment", ["at once", "meanwhile", "once it is stored"])
def test_a_submission_whose_answer_was_lost_is_sent_again_and_made_once(
    trainyard: Trainyard, rest: Rest, moment: str
) -> None:
    name = f"once-{moment.replace(' ', '-')}"
    answers: list[httpx.Response] = []

    def ask() -> None:
        with suppress(httpx.TransportError):
            answers.append(post(rest, name))

    asking = Thread(target=ask)
    began = monotonic()
    asking.start()
    if moment == "meanwhile":
        wait_for(lambda: monotonic() - began > 0.02, 1, "the request to be under way")
    elif moment == "once it is stored":
        wait_for(partial(stored, trainyard, name), 20, "the workload to be stored")
    trainyard.kill("web")
    asking.join(30)
    wait_for(trainyard.is_up, 60, "the web process to be back")

    again = post(rest, name)
    assert again.status_code == 202, again.text
    workload = again.json()["workloadId"]
    assert stored(trainyard, name) == 1
    if moment == "once it is stored" or answers:
        assert again.headers.get("Idempotent-Replayed") == "true"
    assert all(answer.json()["workloadId"] == workload for answer in answers)
    assert rest.wait(workload, "Completed", "Failed") == "Completed"
