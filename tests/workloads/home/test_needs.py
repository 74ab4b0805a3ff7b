"""What needs the reader of the overview, and how it is ticked off."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from accounts.models import AccessKey, User
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from tests.factories import WorkloadFactory
from tests.web import HTMX
from workloads.home.needs import count_needs, find_needs, group_needs
from workloads.models import CausePeriod, Rank, Sample, SampleKind, Workload


def needs_of(user: User) -> list[tuple[str, str]]:
    """Return the name of each workload that needs the user, and why."""
    own = Workload.objects.visible_to(user).filter(created_by=user)
    return [(need.workload.name, need.what) for need in find_needs(own, user)]


def fail(project: Project, user: User, name: str, minutes: int = 1, code: int = 2) -> Workload:
    ended = timezone.now() - timedelta(minutes=minutes)
    workload = WorkloadFactory(
        **{"name": name, "project": project, "created_by": user, "failed": True},
        **{"reason": Reason.RANK_FAILED, "completed_at": ended},
    )
    Rank.objects.filter(workload=workload).update(phase=RankPhase.FAILED, exit_code=code)
    return workload


def test_failures_missing_ranks_and_long_waits_need_their_owner(
    project: Project, member: User, stranger: User
) -> None:
    own = {"project": project, "created_by": member}
    waited = timezone.now() - timedelta(minutes=11)
    fail(project, member, "crashed")
    fail(project, stranger, "not-mine")
    WorkloadFactory(name="torn", degraded=True, **own)
    waiting = WorkloadFactory(name="waits", pending=True, queued_at=waited, **own)
    CausePeriod.objects.create(workload=waiting, run=1, kind="quota", title="Over the quota")
    WorkloadFactory(name="new", pending=True, **own)
    WorkloadFactory(name="fine", running=True, **own)
    assert sorted(needs_of(member)) == [
        ("crashed", "Exit code 2"),
        ("torn", "Ranks are missing"),
        ("waits", "Waits"),
    ]
    assert count_needs(member) == 3


def test_an_old_failure_needs_nobody(project: Project, member: User) -> None:
    fail(project, member, "long-ago", minutes=15 * 24 * 60)
    assert needs_of(member) == []


def test_a_workspace_that_used_nothing_for_an_hour_needs_its_owner(
    project: Project, member: User
) -> None:
    now = timezone.now()
    began = now - timedelta(hours=2)
    for name, cpu in (("asleep", 0.01), ("busy", 1.0)):
        workload = WorkloadFactory(
            **{"name": name, "project": project, "created_by": member, "workspace": True},
            **{"running": True, "phase_updated_at": began},
        )
        Sample.objects.bulk_create(
            Sample(
                workload=workload,
                kind=SampleKind.USAGE,
                run=1,
                rank=0,
                at=now - timedelta(minutes=minute),
                values={"cpu": cpu},
            )
            for minute in range(70)
        )
    assert needs_of(member) == [("asleep", "Idle")]


def test_workloads_of_a_sweep_that_fail_alike_are_one_entry(project: Project, member: User) -> None:
    for number in range(3):
        fail(project, member, f"sweep-{number}", minutes=number + 1)
    fail(project, member, "sweep-3", minutes=5, code=1)
    fail(project, member, "sweep-4", minutes=120)
    groups = group_needs(find_needs(Workload.objects.visible_to(member), member))
    names = [[need.workload.name for need in group.needs] for group in groups]
    assert names == [["sweep-0", "sweep-1", "sweep-2"], ["sweep-3"], ["sweep-4"]]


def test_what_is_ticked_off_comes_back_with_the_next_run(
    client: Client, project: Project, member: User
) -> None:
    workload = fail(project, member, "crashed")
    page = client.get("/").content.decode()
    assert "(1) Overview" in page
    assert f'value="failed:{workload.pk}"' in page
    answer = client.post("/overview/dismiss/", {"keys": f"failed:{workload.pk}"}, **HTMX)
    assert "Nothing needs you" in answer.content.decode()
    assert "<title>Overview" in answer.content.decode()
    Workload.objects.update(run=2)
    assert needs_of(member) == [("crashed", "Exit code 2")]


def test_a_wait_that_is_ticked_off_does_not_hide_the_failure_after_it(
    client: Client, project: Project, member: User
) -> None:
    workload = WorkloadFactory(project=project, created_by=member, pending=True)
    client.post("/overview/dismiss/", {"keys": f"waiting:{workload.pk}"})
    Workload.objects.update(phase=Phase.FAILED, completed_at=timezone.now())
    assert count_needs(member) == 1


def test_people_tick_off_for_themselves_and_only_what_they_see(
    client: Client, project: Project, member: User, administrator: User, stranger: User
) -> None:
    mine = fail(project, member, "crashed")
    hidden = WorkloadFactory(created_by=stranger, failed=True)
    keys = [f"failed:{mine.pk}", f"failed:{hidden.pk}", "failed:x", f"odd:{mine.pk}", ""]
    client.post("/overview/dismiss/", {"keys": ",".join(keys)})
    assert needs_of(member) == []
    assert len(find_needs(Workload.objects.all(), administrator)) == 2


def test_an_access_key_that_ends_within_a_week_is_listed(client: Client, project: Project) -> None:
    owner = User.objects.get(username="maria")
    for name, days in (("soon", 3), ("later", 30)):
        ends = timezone.now() + timedelta(days=days)
        AccessKey.objects.create(name=name, client_id=name, user=owner, expires_at=ends)
    page = client.get("/").content.decode()
    assert "<strong>soon</strong>" in page
    assert "<strong>later</strong>" not in page
