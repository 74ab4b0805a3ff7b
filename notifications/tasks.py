"""Entry points of the worker. All are safe to run twice."""

from celery import shared_task
from django.core.cache import cache

from notifications.delivery import results, rounds
from workloads.history.events import NOTIFY

PRUNE_SECONDS = 600


@shared_task(name=NOTIFY)
def deliver() -> None:
    rounds.run()
    if cache.add("webhook-deliveries", 1, PRUNE_SECONDS):
        results.prune()
