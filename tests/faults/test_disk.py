"""A disk that is full while Trainyard runs: it says so, loses nothing, and goes on by itself."""

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


def is_full(trainyard: Trainyard) -> bool:
    return bool(trainyard.health()[1].get("checks", {}).get("storage") == "full")


def test_a_full_disk_ends_no_training_and_is_over_with_the_space(cramped: Trainyard) -> None:
    with Rest(cramped) as rest:
        running = rest.submit("running", workers=1, command="sleep 600")
        rest.wait(running, "Running")
        cookies = cramped.sign_in()
        filler = fill(cramped.home)

        wait_for(lambda: is_full(cramped), 20, "the full disk to be reported")
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
            script = {"file": ("train.sbatch", b"#!/bin/bash\nhostname\n")}
            upload = web.post("/workloads/new/batch-script/", files=script, headers=token)
            assert upload.status_code == 507
        assert "The disk is full" in httpx.get(f"{cramped.url}/accounts/login/").text

        filler.unlink()
        wait_for(cramped.is_healthy, 90, "health")  # the worker may have to start again
        assert rest.phase(running) == "Running"
        again = rest.submit("again", workers=1, command="echo there is room")
        assert rest.wait(again, "Completed", "Failed") == "Completed"
        wait_for(lambda: "there is room" in rest.log(again), 20, "its log")
        workloads = rest.send("GET", "/workloads")["workloads"]
        assert {workload["name"] for workload in workloads} == {"running", "again"}
