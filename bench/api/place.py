"""Starts a PostgreSQL, a broker and one web process, and nothing that runs workloads: only calls
are measured."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from config import embedded
from config.run.install import ROOT
from tests.product import free_port

PATIENCE = 60.0  # seconds until a server answers
USER = "postgres"  # PostgreSQL does not run as root
DATABASES = ("bench", "small", "large")


@dataclass(frozen=True)
class BenchPlace:
    """A running web process. ``databases`` are addresses by name; ``project`` and ``cluster`` are
    ids."""

    url: str
    home: Path
    username: str
    password: str
    token: str
    project: str
    cluster: str
    databases: dict[str, str]


@contextmanager
def place() -> Iterator[BenchPlace]:
    """Start everything in a temporary folder, and stop it after the block."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scratch.chmod(0o755)
        databases = stack.enter_context(_postgres(scratch))
        home = scratch / "home"
        home.mkdir()
        (home / "valkey").mkdir()
        stack.enter_context(_valkey(home))
        port = free_port()
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "bench.api.settings",
            "TRAINYARD_HOME": str(home),
            "TRAINYARD_LOCAL_ENGINE": "off",
            "TRAINYARD_ADMIN_PASSWORD": "a long enough password",
            "DATABASE_URL": databases["bench"],
            "REDIS_URL": embedded.redis_url(home),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "LOG_LEVEL": "ERROR",
        }
        _run([sys.executable, "-m", "config.run.process", "prepare"], environment)
        seeded = json.loads(_run([sys.executable, "-m", "bench.api.seed"], environment))
        web = [sys.executable, "-m", "bench.api.web"]
        stack.enter_context(_process(web, environment, scratch / "web.log"))
        url = f"http://127.0.0.1:{port}"
        _wait(url)
        password = environment["TRAINYARD_ADMIN_PASSWORD"]
        yield BenchPlace(url, home, "admin", password, databases=databases, **seeded)


@contextmanager
def _postgres(scratch: Path) -> Iterator[dict[str, str]]:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path("/usr/bin")]
    programs = folders[-1]
    data = scratch / "data"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(data, USER)
    port = free_port()
    settings = f"-p {port} -k {data} -c listen_addresses=127.0.0.1 -c max_connections=100"
    _run(_as_user([str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "trust"]))
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
    _run(_as_user([*control, "-l", str(data / "log"), "-o", settings, "start"]))
    try:
        for name in DATABASES:
            reach = ["-h", "127.0.0.1", "-p", str(port), "-U", USER]
            _run([str(programs / "createdb"), *reach, name])
        yield {name: f"postgresql://{USER}@127.0.0.1:{port}/{name}" for name in DATABASES}
    finally:
        _run(_as_user([*control, "-m", "immediate", "stop"]))


def _as_user(command: Sequence[str]) -> list[str]:
    return ["runuser", "-u", USER, "--", *command] if os.geteuid() == 0 else [*command]


@contextmanager
def _valkey(home: Path) -> Iterator[None]:
    socket = embedded.socket_path(home)
    command = [str(embedded.server_binary()), "--port", "0", "--unixsocket", str(socket)]
    with _process([*command, "--save", ""], dict(os.environ), home / "valkey.log"):
        _until(lambda: socket.exists() and embedded.is_answering(socket), "the broker")
        yield


@contextmanager
def _process(command: Sequence[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with (
        log.open("wb") as out,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> str:
    where = ROOT if environment else Path("/")
    done = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _wait(url: str) -> None:
    def answers() -> bool:
        try:
            return httpx.get(f"{url}/api/v1/openapi.json", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    _until(answers, "the web process")


def _until(holds: object, what: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not (callable(holds) and holds()):
        if time.monotonic() > ends:
            raise RuntimeError(f"{what} did not answer within {PATIENCE:.0f} s")
        time.sleep(0.1)
