"""Entry points of the worker. They are safe to run twice."""

from celery import shared_task

from assets.datasets import upkeep


@shared_task(name="assets.remove_unfinished_datasets")
def remove_unfinished_datasets() -> None:
    upkeep.remove_unfinished()
