"""Entry points of the worker. All are safe to run twice."""

from celery import shared_task
from django.core.cache import cache

from notifications.delivery import conditions, mail, outbox, results, rounds
from workloads.history.events import NOTIFY

PRUNE_SECONDS = 600


@shared_task(name=NOTIFY)
def deliver() -> None:
    rounds.run()
    if cache.add("webhook-deliveries", 1, PRUNE_SECONDS):
        results.prune()
        mail.prune()


@shared_task(name=conditions.CONDITIONS)
def report_conditions() -> None:
    conditions.run()


@shared_task(name=outbox.MAIL)
def send_mails() -> None:
    mail.run()
