"""A disk that is full while Trainyard runs: it stays up, says so, and goes on by itself."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.disks import fill, small_disk
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

MEGABYTES = 48


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Trainyard]:
    with small_disk(tmp_path, MEGABYTES) as home:
        cramped = Trainyard(home)
        cramped.start()
        yield cramped
        cramped.stop()


def checks(trainyard: Trainyard) -> dict[str, str]:
    return dict(trainyard.health()[1].get("checks", {}))


FULL = {"database": "ok", "storage": "full", "broker": "ok", "worker": "ok", "beat": "ok"}


def test_a_full_disk_stops_nothing_that_runs_and_is_over_with_the_space(
    cramped: Trainyard,
) -> None:
    with Rest(cramped) as rest:
        running = rest.submit("running", workers=1, command="sleep 600")
        rest.wait(running, "Running")
        before = cramped.pids()
        cookies = cramped.sign_in()
        filler = fill(cramped.home)

        wait_for(lambda: checks(cramped) == FULL, 20, "the full disk to be told")
        refused = rest.http.post("/workloads/distributed", json=rest.document("refused"))
        assert refused.status_code == 507
        assert refused.json()["message"] == "The disk is full"
        with httpx.Client(base_url=cramped.url, cookies=cookies, timeout=20) as web:
            for address in ("/workloads/", f"/workloads/{running}/", "/clusters/"):
                page = web.get(address)
                assert page.status_code == 200
                assert "The disk is full" in page.text
                assert f"Free space on {cramped.home}" in page.text
            token = {"X-CSRFToken": next(cookies[k] for k in cookies if "csrf" in k)}
            assert web.post("/workloads/new/", headers=token).status_code == 507
        assert "The disk is full" in httpx.get(f"{cramped.url}/accounts/login/").text
        wait_for(lambda: checks(cramped) == FULL, 20, "all processes to be there still")

        filler.unlink()
        wait_for(cramped.is_healthy, 30, "health")
        assert rest.phase(running) == "Running"
        assert cramped.pids() == before
        again = rest.submit("again", workers=1, command="echo there is room")
        assert rest.wait(again, "Completed", "Failed") == "Completed"
        wait_for(lambda: "there is room" in rest.log(again), 20, "its log")
    assert "Traceback" not in cramped.terminal(), cramped.log("worker")
