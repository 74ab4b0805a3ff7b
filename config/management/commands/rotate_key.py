"""``manage.py rotate_key``: create a new key, and encrypt all secrets with it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from config import env
from config.upkeep.errors import UpkeepError
from config.upkeep.rotation import Rotation, rotate


class Command(BaseCommand):
    help = "Replace the key that encrypts secrets and signs sessions."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = rotate()
        except (UpkeepError, OSError, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.report(result)

    def report(self, result: Rotation) -> None:
        if result.continued:
            self.stdout.write(
                "Finished the rotation that was interrupted, with the key that it had made."
            )
        self.stdout.write(
            f"Secrets encrypted with the new key: {result.rewritten}. Everyone has to sign in "
            "again."
        )
        if result.lost:
            self.stdout.write(f"No key reads {result.lost} of the secrets: enter them again.")
        if env.is_key_in_environment():
            self.stdout.write(
                "Now remove TRAINYARD_SECRET_KEY_FALLBACKS and restart every process."
            )
