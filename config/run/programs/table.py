"""The processes of Trainyard, as data: what to run, and when it is ready."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from config import embedded
from config.env import env_networks

# How long a program may take to end before it is killed, in seconds.
PATIENCE = 8.0


@dataclass(frozen=True)
class Program:
    """One process to keep alive."""

    name: str
    argv: list[str]
    is_ready: Callable[[], bool] = field(default=lambda: True)
    patience: float = PATIENCE
    #: Puts right what keeps it from starting, by its last words. What was done; empty for nothing.
    mend: Callable[[str], str] = field(default=lambda said: "")


@dataclass(frozen=True)
class Address:
    """Where the web process listens."""

    host: str
    port: int

    @property
    def reachable_host(self) -> str:
        """A name for this machine where the host stands for every address of it."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- compared, not bound
        return everywhere.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def valkey(home: Path) -> Program:
    """The embedded server: a socket, no port, and every command on disk before it is answered."""
    folder = home / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    socket = embedded.socket_path(home)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        # The system has every write before the answer goes out, so killing the process loses
        # nothing; only a power cut can lose the last second.
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
        is_ready=lambda: embedded.answers(socket),
        mend=lambda said: embedded.set_aside(home, said),
    )


def worker() -> Program:
    """Threads: a task waits for a cluster far more than it computes, and a page of memory is all
    that one more of them costs."""
    options = "--pool threads --concurrency 8 --queues submit,monitor,periodic"
    quiet = "--without-gossip --without-mingle --without-heartbeat --loglevel INFO"
    return Program("worker", [*celery(), "worker", *options.split(), *quiet.split()])


def beat() -> Program:
    # No pid file: one left by a killed process must not stop the next start.
    options = ["--pidfile=", "--loglevel", "INFO"]
    return Program("beat", [*celery(), "beat", *options])


def web(address: Address) -> Program:
    options = ["--host", address.host, "--port", str(address.port), "--no-access-log"]
    # Streams stay open for as long as a page does; they are cut when the server ends.
    options += ["--lifespan", "off", "--timeout-graceful-shutdown", "2"]
    # Anybody can write X-Forwarded-For. Without a proxy that is named, nobody is believed.
    proxies = ",".join(env_networks("TRUSTED_PROXIES"))
    options += ["--forwarded-allow-ips", proxies] if proxies else ["--no-proxy-headers"]
    return Program("web", [sys.executable, "-m", "uvicorn", "config.asgi:application", *options])


def celery() -> list[str]:
    return [sys.executable, "-m", "celery", "--app", "config", "--quiet"]


def environment(home: Path, address: Address) -> dict[str, str]:
    """What every program gets: ours, and the data folder by its full path."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TRAINYARD_HOME": str(home),
        "PORT": str(address.port),
        "PYTHONUNBUFFERED": "1",
    }
