"""``python -m config.run.process NAME``: run one process of Trainyard in the foreground.

It is for containers, which a cluster starts and watches. ``web``, ``worker`` and ``beat`` run until
SIGTERM. ``prepare`` updates the database, creates the first administrator, and ends. ``wait`` ends
once the database is up to date. Both wait until the database answers.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import django
from django.core.exceptions import ImproperlyConfigured

from config.run.__main__ import CannotStart, read_address
from config.run.home import RestoreInterrupted, check_restore_finished
from config.run.programs import table as programs
from config.run.programs.table import Address, Program

NAMES = ("web", "worker", "beat", "prepare", "wait")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    name = parser.parse_args(argv).name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        address = read_address()
        from config import settings

        check_restore_finished(settings.HOME)
        os.environ |= programs.build_environment(settings.HOME, address)
        if name in ONCE:
            # PID 1 of a container ignores signals without a handler, so SIGTERM needs one.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            django.setup()
            ONCE[name]()
            return 0
        replace_process(name, settings.HOME, address)
    except (CannotStart, RestoreInterrupted, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1


def prepare_data() -> None:
    from config.run import prepare, tables

    tables.wait_for_database()
    prepare.prepare_data()


def wait_for_tables() -> None:
    from config.run import tables

    tables.wait_for_tables()


ONCE: dict[str, Callable[[], None]] = {"prepare": prepare_data, "wait": wait_for_tables}


def replace_process(name: str, home: Path, address: Address) -> NoReturn:
    """Replace this process, so that signals reach the program itself. Does not return."""
    (home / "run").mkdir(exist_ok=True)
    builders: dict[str, Callable[[], Program]] = {
        "web": lambda: programs.web_program(address),
        "worker": programs.worker_program,
        "beat": programs.beat_program,
    }
    argv = builders[name]().argv
    os.execv(argv[0], argv)  # noqa: S606 -- no shell, and the program is our own


if __name__ == "__main__":
    sys.exit(main())
