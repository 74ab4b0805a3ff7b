"""``manage.py backup``: archive this installation, running or not."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from config.upkeep.backup import back_up
from config.upkeep.errors import UpkeepError
from spec.values.quantities import format_bytes


class Command(BaseCommand):
    help = "Save database, keys and logs in one archive. Protect it like a password."
    requires_system_checks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, such as trainyard.tar.gz")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"].expanduser().absolute()
        try:
            back_up(path)
        except (UpkeepError, OSError, DatabaseError) as error:
            raise CommandError(f"{error}\nNo backup was written.") from error
        size = format_bytes(path.stat().st_size)
        self.stdout.write(f"Saved {path} ({size}). It contains the keys: protect it.")
