"""Entry points of the worker. They are safe to run twice."""

from celery import shared_task

from core.broker.enqueue import allow_next
from workflows import running
from workloads.history.events import ADVANCE


@shared_task(name=ADVANCE)
def advance() -> None:
    allow_next(ADVANCE, None)
    running.advance_all()
