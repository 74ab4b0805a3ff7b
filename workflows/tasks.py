"""Entry points of the worker. They are safe to run twice."""

from uuid import UUID

from celery import shared_task

from core.broker.enqueue import allow_next
from workflows import keeping, running
from workflows.keeping import KEEP
from workloads.history.events import ADVANCE


@shared_task(name=ADVANCE)
def advance() -> None:
    allow_next(ADVANCE, None)
    running.advance_all()


@shared_task(name=KEEP)
def keep_outputs(workflow_id: str) -> None:
    keeping.keep_outputs(UUID(workflow_id))
    running.advance(UUID(workflow_id))
