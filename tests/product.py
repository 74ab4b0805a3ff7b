"""The whole product as real processes, for tests that click in it or kill parts of it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from config.run.install import ROOT
from tests.migrated import copy_migrated
from tests.waiting import wait_for

PASSWORD = "correct horse battery staple"
PROGRAMS = ("web", "worker", "beat", "valkey")


def free_port() -> int:
    """Return a TCP port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Trainyard:
    """``python -m config.run`` with a data folder of its own. ``username`` and ``password`` are the
    administrator's."""

    username = "admin"
    password = PASSWORD

    def __init__(self, home: Path, port: int | None = None, **environment: str) -> None:
        self.home = home
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = home / "terminal.txt"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "TRAINYARD_HOME": str(home),
            "PORT": str(self.port),
            "PUBLIC_URL": self.url,
            "TRAINYARD_ADMIN_PASSWORD": PASSWORD,
            # A SQLite file even if the suite runs on PostgreSQL, whose tables are those of the
            # suite.
            "DATABASE_URL": "",
            **environment,
        }
        self.manager: subprocess.Popen[bytes] | None = None

    def start(self, timeout: float = 180.0) -> None:
        """Start it, and wait until every part answers. Fails at once if it ends instead.

        A new data folder gets a database that is migrated already, which saves seconds. While tests
        of a cluster run, the four processes take up to a minute.
        """
        database = self.home / "trainyard.sqlite3"
        if not self.environment["DATABASE_URL"] and not database.exists():
            copy_migrated(database)
        self.spawn()
        wait_for(lambda: self.ended() or self.is_up(), timeout, "every part to answer")
        assert not self.ended(), self.terminal()

    def spawn(self) -> None:
        """Start the manager, without waiting for anything."""
        with self.output.open("ab") as output:
            self.manager = subprocess.Popen(
                [sys.executable, "-m", "config.run"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def manage(self, *arguments: str) -> str:
        """Run ``manage.py`` on its data, and return what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"manage.py {arguments[0]}: {done.stderr}"
        return done.stdout

    def stop(self, timeout: float = 40.0) -> int:
        """Stop it as Ctrl-C does, and return the manager's exit code."""
        assert self.manager is not None
        if not self.ended():
            self.manager.send_signal(signal.SIGINT)
        return self.manager.wait(timeout)

    def sign_in(self) -> dict[str, str]:
        """Sign the administrator in, and return the session's cookies. The product allows 30
        sign-ins a minute."""
        with httpx.Client(base_url=self.url, timeout=20) as web:
            form = web.get("/accounts/login/").text
            (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form))
            who = {"login": self.username, "password": self.password}
            answer = web.post("/accounts/login/", data=who | {"csrfmiddlewaretoken": token})
            assert answer.is_redirect, f"signing in: {answer.status_code}"
            return dict(web.cookies)

    def ended(self) -> bool:
        """Whether the manager has ended, or was never started."""
        return self.manager is None or self.manager.poll() is not None

    def terminal(self) -> str:
        """Return what the manager has printed."""
        return self.output.read_text() if self.output.exists() else ""

    def log(self, program: str) -> str:
        """Return the log of one of its programs."""
        path = self.home / "run" / f"{program}.log"
        return path.read_text() if path.exists() else ""

    def is_up(self) -> bool:
        """Whether all processes of this start answer, and not those of an earlier one."""
        record = self.record()
        ours = self.manager is not None and record.get("manager") == self.manager.pid
        return ours and len(record["processes"]) == len(PROGRAMS) and self.is_healthy()

    def record(self) -> dict[str, Any]:
        """Return the manager's record of its processes; empty if there is none."""
        path = self.home / "run" / "processes.json"
        record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return record

    def pids(self) -> dict[str, int]:
        """Return the current pids of web, worker, beat and valkey."""
        return {name: entry["pid"] for name, entry in self.record()["processes"].items()}

    def kill(self, *names: str) -> None:
        """Kill programs with SIGKILL; the manager starts them again."""
        pids = self.pids()
        for name in names:
            os.kill(pids[name], signal.SIGKILL)

    def kill_everything(self) -> None:
        """Kill the manager and all its programs with SIGKILL. Running workloads are left alone."""
        assert self.manager is not None
        pids = self.pids()
        self.manager.kill()
        self.manager.wait(10)
        for pid in pids.values():
            with suppress(ProcessLookupError):  # it died a moment ago
                os.kill(pid, signal.SIGKILL)
        gone = [psutil.Process(pid) for pid in pids.values() if psutil.pid_exists(pid)]
        psutil.wait_procs(gone, timeout=10)

    def health(self) -> tuple[int, dict[str, Any]]:
        """Return status and body of ``/healthz``; the status is 0 if nothing answers."""
        web = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            web.request("GET", "/healthz")
            answer = web.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            return 0, {}
        finally:
            web.close()

    def is_healthy(self) -> bool:
        return self.health()[0] == 200
