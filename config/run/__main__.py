"""``python -m config.run``, which is ``make run``: prepare the data, start every process, keep them
running, and stop them in order."""

import http.client
import json
import os
import socket
import sys
import time

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from config.run.console import print_frame, print_step, say
from config.run.home import Home, Occupied, RestoreInterrupted, check_restore_finished
from config.run.programs import table as programs
from config.run.programs.manager import Manager, NotReady
from config.run.programs.table import Address
from core import storage

HEALTHY_WITHIN = 30.0  # seconds
LEAST_SPACE = 1024**2  # bytes; a start may use the reserve, because only a running one makes room


class CannotStart(Exception):
    """Trainyard cannot start until a person changes something; the message says what."""


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        run()
    except (CannotStart, RestoreInterrupted, ImproperlyConfigured, NotReady, Occupied) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\n{folder_message(error)}", file=sys.stderr)
        return 1
    except DatabaseError as error:
        if not storage.is_outage(error):
            raise
        print(f"\n{database_message(error)}", file=sys.stderr)
        return 1
    return 0


def run() -> None:
    address = read_address()
    # Importing this reads the environment, so the address is checked before.
    from config.run.prepare import prepare

    if folder := storage.full_folder(reserve=LEAST_SPACE):
        advice = storage.advice(folder)
        raise CannotStart(f"{storage.TITLE} ({folder}). {advice} Then start Trainyard again.")
    home = Home(settings.HOME)
    home.lock()
    check_restore_finished(settings.HOME)
    if leftovers := home.end_leftovers():
        say(f"Ended processes left over from a killed start: {', '.join(leftovers)}")
    check_port(address)
    is_ours = not os.environ.get("REDIS_URL")
    manager = Manager(home, address.url, programs.build_environment(settings.HOME, address))
    manager.catch_signals()
    try:
        # The broker starts first, because preparing may publish. With REDIS_URL it is not ours to
        # run.
        manager.start([programs.broker_program(settings.HOME)] if is_ours else [])
        sign_in = prepare()
        print_step("Starting")
        manager.start(
            [programs.worker_program(), programs.beat_program(), programs.web_program(address)]
        )
        wait_until_healthy(manager, address)
        if not manager.stopping.is_set():
            print_welcome(address, sign_in)
        manager.watch()
    finally:
        say("Stopping. Running workloads continue; the next start picks them up.")
        manager.stop()


def folder_message(error: OSError) -> str:
    """Return the message about a data folder that cannot be used."""
    return (
        f"The data folder cannot be used: {error.strerror or error}"
        f"{f' ({error.filename})' if error.filename else ''}.\n"
        "Make it writable and free space on its disk, or choose another folder:\n"
        "  make run TRAINYARD_HOME=/path/to/a/folder"
    )


def database_message(error: DatabaseError) -> str:
    """Return the message about a database that cannot be used."""
    return (
        f"The database {settings.DATABASES['default']['NAME']} cannot be used: {error}.\n"
        "If it is damaged, keep a copy of it and restore the last backup: docs/operations.md."
    )


def read_address() -> Address:
    port = os.environ.get("PORT", "").strip() or "8000"
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise CannotStart(f"PORT is {port!r}; use a number from 1 to 65535.")
    return Address(os.environ.get("HOST", "").strip() or "127.0.0.1", int(port))


def check_port(address: Address) -> None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise CannotStart(
                f"Cannot listen on {address.host}:{address.port}: {error.strerror}.\n"
                "Choose another port:  make run PORT=8001\n"
                "(HOST= sets the address to listen on.)"
            ) from None


def wait_until_healthy(manager: Manager, address: Address) -> None:
    """Wait until every part answers. After ``HEALTHY_WITHIN`` seconds, print the names of those
    that do not, and return."""
    deadline = time.monotonic() + HEALTHY_WITHIN
    manager.watch(until=lambda: not find_unhealthy(address) or time.monotonic() > deadline)
    if manager.stopping.is_set():
        return
    down = find_unhealthy(address)
    if down:
        logs = ", ".join(str(manager.home.run / f"{name}.log") for name in down)
        say(f"Not answering yet: {', '.join(down)}. Check {logs}.")


def find_unhealthy(address: Address) -> list[str]:
    """Return the names of the parts that ``/healthz`` reports as down."""
    web = http.client.HTTPConnection(address.reachable_host, address.port, timeout=5)
    try:
        web.request("GET", "/healthz")
        report = json.load(web.getresponse())
    except (OSError, http.client.HTTPException, ValueError):
        return ["web"]
    finally:
        web.close()
    return [name for name, state in report["checks"].items() if state != "ok"]


def print_welcome(address: Address, sign_in: str | None) -> None:
    hint = "password as printed at the first start (forgotten? see README, Sign-in)"
    print_frame(
        [
            f"Trainyard runs at {address.url}",
            f"Sign in as admin, {sign_in or hint}",
            "Ctrl-C stops it.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
