"""``python -m config.run.process NAME``: one process of Trainyard in the foreground.

For containers, where something else starts and watches them. ``web``, ``worker`` and ``beat`` run
until SIGTERM; ``prepare`` updates the database, makes the first administrator, and ends.
"""

import argparse
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

from config.run import programs
from config.run.__main__ import CannotStart, read_address

NAMES = ("web", "worker", "beat", "prepare")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    name = parser.parse_args(argv).name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        return start(name)
    except (CannotStart, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1


def start(name: str) -> int:
    """Become that process, which then gets every signal itself."""
    from config import settings

    address = read_address()
    os.environ |= programs.environment(settings.HOME, address)
    if name == "prepare":
        from config.run.prepare import prepare_data

        django.setup()
        prepare_data()
        return 0
    (settings.HOME / "run").mkdir(exist_ok=True)
    made = {
        "web": lambda: programs.web(address),
        "worker": programs.worker,
        "beat": lambda: programs.beat(settings.HOME),
    }
    argv = made[name]().argv
    os.execv(argv[0], argv)  # noqa: S606 -- no shell, and the program is our own


if __name__ == "__main__":
    sys.exit(main())
