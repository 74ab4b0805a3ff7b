"""The whole product lost and restored, and given a new key, by the documented commands."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

ADD_SECRET = """
from clusters.models import Cluster, Connection
cluster = Cluster.objects.create(name="forge", kind="kubernetes")
Connection.objects.create(cluster=cluster, secret_json="the kubeconfig")
"""
READ_SECRET = "from clusters.models import *; print(Connection.objects.get().secret_json)"
STORED = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT secret_json FROM clusters_connection")
    print(cursor.fetchone()[0])
"""
CHATTER = "sh -c 'i=0; while true; do i=$((i+1)); echo line $i; sleep 0.01; done'"


def shell(trainyard: Trainyard, code: str) -> str:
    return trainyard.manage("shell", "--no-imports", "-c", code).strip()


def numbers(log: str) -> list[int]:
    return [int(number) for number in re.findall(r"line (\d+)\n", log)]


@dataclass(frozen=True)
class Saved:
    """What was there when the backup was made."""

    archive: Path
    completed: str  # a workload, and its log
    log: str
    chatting: str  # one that ran, and the last number that it had printed
    last: int


@contextmanager
def running(home: Path) -> Iterator[Trainyard]:
    home.mkdir(exist_ok=True)
    trainyard = Trainyard(home)
    trainyard.start()
    try:
        yield trainyard
    finally:
        trainyard.stop()


def back_up(trainyard: Trainyard, archive: Path) -> Saved:
    """While a workload prints; it is deleted before the installation is lost."""
    shell(trainyard, ADD_SECRET)
    with Rest(trainyard) as rest:
        completed = rest.submit("completed", workers=1, command="echo it went well")
        rest.wait(completed, "Completed")
        wait_for(lambda: "it went well" in rest.log(completed), 20, "its log")
        chatting = rest.submit("chatting", workers=1, command=CHATTER)
        wait_for(lambda: len(numbers(rest.log(chatting))) > 100, 30, "output")
        trainyard.manage("backup", str(archive))
        last = numbers(rest.log(chatting))[-1]
        assert rest.phase(chatting) == "Running"
        rest.delete(chatting)
        wait_for(lambda: rest.http.get(f"/workloads/{chatting}").status_code == 404, 30, "404")
        return Saved(archive, completed, rest.log(completed), chatting, last)


def look(trainyard: Trainyard, saved: Saved) -> None:
    with Rest(trainyard) as rest:
        assert rest.phase(saved.completed) == "Completed"
        assert rest.log(saved.completed) == saved.log
        kept = numbers(rest.log(saved.chatting))
        assert kept == list(range(1, len(kept) + 1)), "neither a gap nor a repetition"
        assert 100 < len(kept) <= saved.last + 1
        assert rest.wait(saved.chatting, "Failed") == "Failed"
        assert "no longer has" in str(rest.read(saved.chatting))
        again = rest.submit("again", workers=1, command="echo as before")
        assert rest.wait(again, "Completed", "Failed") == "Completed"
    assert shell(trainyard, READ_SECRET) == "the kubeconfig"


def test_a_lost_installation_comes_back_with_its_workloads_logs_and_secrets(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    archive = str(tmp_path / "backup.tar.gz")
    with running(home) as trainyard:
        saved = back_up(trainyard, Path(archive))
        with pytest.raises(AssertionError, match="Trainyard runs on"):
            trainyard.manage("restore", archive, "--replace")
    shutil.rmtree(home)
    home.mkdir()
    trainyard.manage("restore", archive)
    with running(home) as trainyard:
        look(trainyard, saved)
        with pytest.raises(AssertionError, match="Trainyard runs on"):
            trainyard.manage("rotate_key")

    before = (home / "secret_key").read_text()
    stored = shell(trainyard, STORED)
    assert "encrypted with the new key: 1." in trainyard.manage("rotate_key")
    assert (home / "secret_key").read_text() != before
    assert shell(trainyard, STORED) != stored
    assert shell(trainyard, READ_SECRET) == "the kubeconfig"
