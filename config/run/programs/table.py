"""The processes of Trainyard as data: their command lines, and when each is ready."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from config import embedded
from config.env import env_networks

# Seconds a program may take to end before it is killed.
PATIENCE = 8.0


@dataclass(frozen=True)
class Program:
    """One process to keep alive."""

    name: str
    argv: list[str]
    is_ready: Callable[[], bool] = field(default=lambda: True)
    patience: float = PATIENCE
    #: What a person can do if the program does not start.
    advice: str = ""


@dataclass(frozen=True)
class Address:
    """Where the web process listens."""

    host: str
    port: int

    @property
    def reachable_host(self) -> str:
        """An address to connect to, where ``host`` means every address of the machine."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- compared, not bound
        return everywhere.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def broker_program(home: Path) -> Program:
    """Return the embedded server. It has no TCP port, and hands each command to the system before
    it answers."""
    folder = home / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    socket = embedded.socket_path(home)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        # Killing the process loses nothing, because each write reaches the system before the
        # answer. A power cut can lose the last second.
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
    }
    argv = [str(embedded.server_binary())]
    for name, value in options.items():
        argv += [f"--{name}", value]
    return Program(
        "valkey",
        argv,
        is_ready=lambda: embedded.is_answering(socket),
        advice=(
            f"If the broker cannot read its file, move the folder {folder} away and start again: "
            "what it holds is rebuilt from the database."
        ),
    )


def worker_program() -> Program:
    """Return the worker. It has threads, because tasks mostly wait for clusters, and a thread costs
    little memory."""
    options = "--pool threads --concurrency 8 --queues submit,monitor,periodic"
    quiet = "--without-gossip --without-mingle --without-heartbeat --loglevel INFO"
    return Program("worker", [*celery_command(), "worker", *options.split(), *quiet.split()])


def beat_program() -> Program:
    # No pid file: one left behind by a killed process would prevent the next start.
    options = ["--pidfile=", "--loglevel", "INFO"]
    return Program("beat", [*celery_command(), "beat", *options])


def web_program(address: Address) -> Program:
    options = ["--host", address.host, "--port", str(address.port), "--no-access-log"]
    # Event streams stay open as long as their page; on shutdown they are cut after two seconds.
    options += ["--lifespan", "off", "--timeout-graceful-shutdown", "2"]
    # Anyone can send X-Forwarded-For, so it is believed only from the proxies named here.
    proxies = ",".join(env_networks("TRUSTED_PROXIES"))
    options += ["--forwarded-allow-ips", proxies] if proxies else ["--no-proxy-headers"]
    return Program("web", [sys.executable, "-m", "uvicorn", "config.asgi:application", *options])


def celery_command() -> list[str]:
    return [sys.executable, "-m", "celery", "--app", "config", "--quiet"]


def build_environment(home: Path, address: Address) -> dict[str, str]:
    """Return the environment of every program: that of the manager, with the absolute path of the
    data folder."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TRAINYARD_HOME": str(home),
        "PORT": str(address.port),
        "PYTHONUNBUFFERED": "1",
    }
