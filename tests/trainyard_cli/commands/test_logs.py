"""Finding the deleted workload whose logs are to be read."""

from typing import Any

import pytest
from django.utils import timezone

from projects.models import Project
from tests.factories import WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands import logs
from workloads.models import Rank, Workload

Read = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """The workloads whose logs were read, and the queries: only a server with ASGI streams them."""
    found: Read = []

    def print_logs(_: object, workload: Any, __: object, **query: Any) -> None:
        found.append((workload["id"], query))

    monkeypatch.setattr(logs, "print_logs", print_logs)
    return found


@pytest.fixture
def kept(project: Project) -> Workload:
    return WorkloadFactory(project=project, name="gone", completed=True, deleted_at=timezone.now())


def test_the_logs_of_a_deleted_workload_are_read_by_name_and_id(
    terminal: Terminal, kept: Workload, read: Read
) -> None:
    terminal("logs gone --deleted")
    terminal(f"logs {kept.pk} --deleted --pod worker-0")
    assert [(pk, query["deleted"], query["rank"]) for pk, query in read] == [
        (str(kept.pk), "true", "all"),
        (str(kept.pk), "true", "1"),
    ]
    assert "There is no workload gone" in terminal("logs gone", code=4).err
    nothing = "Nothing is kept of a deleted workload other"
    assert nothing in terminal("logs other --deleted", code=4).err


def test_a_name_that_was_deleted_twice_means_the_last_one(
    terminal: Terminal, project: Project, kept: Workload, read: Read
) -> None:
    older = WorkloadFactory(project=project, name="gone", deleted_at=timezone.now())
    Workload.objects.filter(pk=older.pk).update(created_at="2026-01-01T00:00Z")
    terminal("logs gone --deleted")
    assert [pk for pk, _ in read] == [str(kept.pk)]


def test_a_pod_is_named_by_its_role(terminal: Terminal, project: Project, read: Read) -> None:
    workload = WorkloadFactory(project=project, name="asks", completed=True)
    Rank.objects.filter(workload=workload, rank=1).update(role="client", index=7)
    terminal("logs asks --pod client-7")
    terminal("logs asks --pod asks-client-7")
    assert [query["rank"] for _, query in read] == ["1", "1"]
    assert "asks has no pod server-0" in terminal("logs asks --pod server-0", code=2).err
    assert "'client' is not a pod" in terminal("logs asks --pod client", code=2).err
