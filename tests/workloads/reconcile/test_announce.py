"""When open pages hear of what was written down."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

import pytest
from celery import current_app

from core.broker import stream
from engines.base import Observation
from projects.models import Project
from spec.phases import Phase
from tests.workloads.gangs import waiting
from workloads import reconcile


class OnCommit(Protocol):
    def __call__(self, *, execute: bool) -> AbstractContextManager[object]: ...


@pytest.mark.usefixtures("valkey")
def test_open_pages_hear_of_an_end_before_the_worker_does(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: OnCommit,
) -> None:
    workload = waiting(project, "a", gpus=1)
    workload.move(Phase.INITIALIZING)
    sent: list[str] = []
    monkeypatch.setattr(stream, "publish", lambda *_: sent.append("page"))
    monkeypatch.setattr(current_app, "send_task", lambda task, *_, **__: sent.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        end = Observation(workload.pk, workload.run, 1, Phase.COMPLETED, datetime.now(UTC))
        assert reconcile.apply(workload, end)
    after = ["workloads.admit", "notifications.deliver", "workflows.advance"]
    assert sent == ["page", *after]
