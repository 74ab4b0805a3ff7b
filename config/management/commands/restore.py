"""``manage.py restore``: replace the data of this installation by an archive of a backup."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from config.upkeep.errors import UpkeepError
from config.upkeep.restore import restore


class Command(BaseCommand):
    help = "Put back what `manage.py backup` saved, while Trainyard is stopped."
    requires_system_checks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        meaning = "overwrite this installation; its data is lost"
        parser.add_argument("--replace", action="store_true", help=meaning)

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"].expanduser().absolute()
        try:
            manifest = restore(path, replace=options["replace"])
        except (UpkeepError, OSError, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored the backup of {manifest.made_at}. Start Trainyard; if it is a newer version "
            "than the backup's, that updates the tables."
        )
