"""Two web processes are one Trainyard, as the replicas of ``deploy/`` have to be."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from config.run.install import ROOT
from config.run.programs import table as programs
from tests.product import Trainyard, free_port
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults
START = 60.0  # seconds, on a busy machine


@pytest.fixture
def other(trainyard: Trainyard, tmp_path: Path) -> Iterator[str]:
    """Where a second one listens. Its cookies are those of the first, as behind one Service."""
    address = programs.Address("127.0.0.1", free_port())
    with (tmp_path / "other.log").open("wb") as log:
        process = subprocess.Popen(
            programs.web_program(address).argv,
            cwd=ROOT,
            env=trainyard.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    wait_for(lambda: answers(address.url), START, "the second web process")
    yield address.url
    process.terminate()
    process.wait(20)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").is_success
    except httpx.TransportError:
        return False


def test_two_web_processes_share_sessions_and_updates(trainyard: Trainyard, other: str) -> None:
    cookies = trainyard.sign_in()
    with (
        httpx.Client(base_url=other, cookies=cookies, timeout=20) as second,
        Rest(trainyard) as rest,
    ):
        assert second.get("/workloads/").status_code == 200
        with second.stream("GET", "/stream/") as live:
            lines = live.iter_lines()
            assert next(lines).startswith("retry:")
            made = rest.submit("told-to-both", workers=1, command="sleep 600")
            wait_for(lambda: f"w-{made}" in next(lines), 20, "an event about it", every=0)
        rest.wait(made, "Running")
        assert "told-to-both" in second.get("/workloads/").text
        trainyard.kill("web")
        assert "told-to-both" in second.get(f"/workloads/{made}/").text
        wait_for(trainyard.is_healthy, 30, "the first one to be back")
        rest.delete(made)
