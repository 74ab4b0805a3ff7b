"""What is kept of a deleted workload: its page, without what could change it, and two ways on."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from accounts.models import User
from audit.models import AuditEntry
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.phases import Phase
from tests.factories import ComputeResourceFactory, EnvironmentFactory, WorkloadFactory
from tests.web import signed_in
from workloads import logs, services
from workloads.models import Draft, Workload
from workloads.plan import plan
from workloads.services import NotPossible

HTMX = {"HX-Request": "true"}


@pytest.fixture
def deleted(project: Project, member: User, settings: Settings, tmp_path: Path) -> Workload:
    settings.LOG_STORE = tmp_path
    workload: Workload = WorkloadFactory(
        name="digits",
        project=project,
        created_by=member,
        failed=True,
        logs_complete=True,
        deleted_at=timezone.now() - timedelta(days=1),
        auto_delete_at=timezone.now(),
        draft_json=WorkloadDraft(name="digits").model_dump(mode="json", by_alias=True),
    )
    logs.append(logs.Stream(workload.pk, 1, 0, 0), b"precious line\n")
    return workload


def test_the_page_of_a_deleted_workload_says_until_when_and_only_looks(
    client: Client, deleted: Workload
) -> None:
    page = client.get(deleted.get_absolute_url()).content.decode()
    assert f'<time datetime="{deleted.removal_time:%Y-%m-%dT%H:%M}' in page
    for kept in ("Restore as a copy", "Delete for good", ">Logs<", ">Metrics<", ">Spec<"):
        assert kept in page
    for gone in (">Terminal<", ">Run<", ">Stop<", "Save as template", "Auto-deletes on"):
        assert gone not in page
    assert "It printed nothing" not in page, "why it failed is told as ever"
    lines = client.get(f"/workloads/{deleted.pk}/logs/lines/").content.decode()
    assert "precious line" in lines


def test_a_deleted_workload_is_restored_as_a_draft_with_its_name(
    client: Client, deleted: Workload
) -> None:
    asked = client.get(f"/workloads/{deleted.pk}/copy/").content.decode()
    assert "Restore as a copy digits?" in asked
    assert "the same name if it is free" in asked
    client.post(f"/workloads/{deleted.pk}/copy/")
    assert Draft.objects.get().content.name == "digits"
    WorkloadFactory(name="digits", project=deleted.project)
    client.post(f"/workloads/{deleted.pk}/copy/")
    assert {draft.content.name for draft in Draft.objects.all()} == {"digits", "digits-copy"}


def test_a_restored_copy_has_the_values_of_assets_that_are_gone(
    project: Project, member: User
) -> None:
    variables = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    environment = EnvironmentFactory(
        home=project,
        spec_json={"image": "x:1", "args": "--lr 1", "environmentVariables": variables},
    )
    compute = ComputeResourceFactory(
        home=project, spec_json={"cpuCoreRequest": 2.0, "cpuMemoryRequest": "1G"}
    )
    worker = ReplicaDraft(
        assets={"environment": environment.pk, "compute": compute.pk},
        values={
            "command": "python train.py",
            "environmentVariables": [{"name": "B", "value": "mine"}],
            "compute": {"cpuMemoryRequest": "3G"},
        },
    )
    draft = WorkloadDraft(
        name="digits",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=worker,
        values={"numWorkers": 2},
    )
    workload = services.submit(draft, by=member)
    Workload.objects.filter(pk=workload.pk).update(deleted_at=timezone.now())
    environment.delete()
    compute.delete()
    again = plan(services.copy(Workload.objects.get(pk=workload.pk), by=member).content, by=member)
    assert not again.problems
    assert again.spec == workload.spec


def test_strangers_restore_nothing(deleted: Workload, stranger: User) -> None:
    for verb in ("copy", "purge"):
        answer = signed_in(stranger).post(f"/workloads/{deleted.pk}/{verb}/")
        assert answer.status_code == 404
    assert not Draft.objects.exists()
    assert Workload.objects.filter(pk=deleted.pk).exists()


def test_a_deleted_workload_can_be_deleted_for_good(
    client: Client,
    deleted: Workload,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    address = f"/workloads/{deleted.pk}/purge/"
    assert "cannot be undone" in client.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address)["Location"] == "/workloads/?deleted=1"
    assert not Workload.objects.exists()
    assert not logs.streams(deleted.pk)
    assert AuditEntry.objects.filter(verb="purge", target_name="digits").exists()
    assert client.get(deleted.get_absolute_url()).status_code == 404


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (30, "are kept for at least 7 days."),
        (1, "are kept for at least 1 day."),
        (0, "are deleted, too."),
    ],
)
def test_deletion_explains_what_happens_to_the_logs(
    client: Client, workload: Workload, settings: Settings, days: int, words: str
) -> None:
    settings.RETENTION_DAYS = days
    pages = {f"{workload.pk}/delete/": "Its", f"{workload.pk}/menu/": "Its", "": "Their"}
    for page, whose in pages.items():
        shown = client.get(f"/workloads/{page}").content.decode()
        assert f"{whose} logs, metrics and events {words}" in shown


def test_only_a_deleted_workload_can_be_deleted_for_good(
    client: Client, workload: Workload, member: User
) -> None:
    assert client.post(f"/workloads/{workload.pk}/purge/").status_code == 404
    with pytest.raises(NotPossible):
        services.purge(workload, by=member)
    assert Workload.objects.filter(pk=workload.pk).exists()


def test_the_deleted_view_shows_what_ended_how_and_until_when(
    client: Client, deleted: Workload, workload: Workload, stranger: User
) -> None:
    Workload.objects.filter(pk=workload.pk).update(name="still-there")
    page = client.get("/workloads/?deleted=1").content.decode()
    assert ("digits" in page, "still-there" in page) == (True, False)
    assert 'data-phase="Failed"' in page
    assert f'<time datetime="{deleted.removal_time:%Y-%m-%dT%H:%M}' in page
    assert 'name="verb"' not in page, "nothing can be done to several"
    ordinary = client.get("/workloads/").content.decode()
    assert ("digits" in ordinary, "still-there" in ordinary) == (False, True)
    assert "?deleted=1" in ordinary
    assert "Kept until" not in ordinary
    live = "data-live-mark"
    assert (live in ordinary, live in page) == (True, False), "it does not follow others' deletions"
    assert "digits" not in signed_in(stranger).get("/workloads/?deleted=1").content.decode()


def test_the_deleted_view_is_searched_filtered_and_sorted(
    client: Client, deleted: Workload, project: Project
) -> None:
    stopped = WorkloadFactory(name="walk", project=project, stopped=True, deleted_at=timezone.now())

    def names(query: str) -> list[str]:
        page = client.get(f"/workloads/?deleted=1&{query}", headers=HTMX).content.decode()
        both = [row for row in (deleted, stopped) if f'id="w-{row.pk}"' in page]
        return [row.name for row in sorted(both, key=lambda row: page.index(f"w-{row.pk}"))]

    assert names("") == ["walk", "digits"], "what was deleted last comes first"
    assert names("sort=deleted") == ["digits", "walk"]
    assert names("q=dig") == ["digits"]
    assert names("f=status:is:Stopped") == ["walk"]
    part = client.get(f"/workloads/rows/?deleted=1&ids={deleted.pk}").content.decode()
    assert f'id="w-{deleted.pk}"' in part
    menu = client.get(f"/workloads/{deleted.pk}/menu/").content.decode()
    assert ("Restore as a copy" in menu, "Copy &amp; edit" in menu) == (True, False)


def test_how_a_workload_ended_is_told_as_before_its_deletion(workload: Workload) -> None:
    Workload.objects.update(deleted_at=timezone.now(), phase=Phase.STOPPED)
    workload.refresh_from_db()
    assert not workload.move(Phase.RESUMING), "it is over"
