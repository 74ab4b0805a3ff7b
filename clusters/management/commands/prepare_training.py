"""``manage.py prepare_training``: install the Python of trainings now, and see how far it is."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from clusters.services import ensure_local
from engines.preparation import Preparation, PreparationStage

LOOK_SECONDS = 1.0


class Command(BaseCommand):
    help = "Install the Python that runs trainings on this machine, unless it is ready."

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = ensure_local()
        kind = cluster.definition
        preparation = kind.preparation(cluster)
        if preparation is None:
            raise CommandError("The local engine is turned off (TRAINYARD_LOCAL_ENGINE=off).")
        if not preparation.is_ready:
            kind.prepare_again(cluster)
        printed = ""
        while (preparation := kind.preparation(cluster)) and not preparation.is_ready:
            if preparation.has_failed:
                raise CommandError(f"{preparation.problem} {preparation.advice}")
            line = describe(preparation)
            if line != printed:
                self.stdout.write(line)
                printed = line
            time.sleep(LOOK_SECONDS)
        if preparation:
            self.stdout.write(preparation.summary)


def describe(preparation: Preparation) -> str:
    if preparation.stage is not PreparationStage.FETCHING:
        return preparation.step
    percent = int(preparation.done / preparation.total * 100)
    return f"Fetched {percent} % of {preparation.total / 1e9:.1f} GB."
