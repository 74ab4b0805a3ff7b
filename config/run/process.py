"""``python -m config.run.process NAME``: one process of Trainyard in the foreground.

For containers, where something else starts and watches them. ``web``, ``worker`` and ``beat`` run
until SIGTERM; ``prepare`` updates the database, makes the first administrator, and ends.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import django
from django.core.exceptions import ImproperlyConfigured

from config.run import programs
from config.run.__main__ import CannotStart, read_address
from config.run.programs import Address, Program

NAMES = ("web", "worker", "beat", "prepare")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    name = parser.parse_args(argv).name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        address = read_address()
        from config import settings

        os.environ |= programs.environment(settings.HOME, address)
        if name == "prepare":
            prepare_data()
            return 0
        become(name, settings.HOME, address)
    except (CannotStart, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1


def prepare_data() -> None:
    django.setup()
    from config.run import prepare

    prepare.prepare_data()


def become(name: str, home: Path, address: Address) -> NoReturn:
    """This very process is replaced, so every signal reaches the program itself."""
    (home / "run").mkdir(exist_ok=True)
    made: dict[str, Callable[[], Program]] = {
        "web": lambda: programs.web(address),
        "worker": programs.worker,
        "beat": lambda: programs.beat(home),
    }
    argv = made[name]().argv
    os.execv(argv[0], argv)  # noqa: S606 -- no shell, and the program is our own


if __name__ == "__main__":
    sys.exit(main())
