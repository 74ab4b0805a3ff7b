"""Two people take the last of a quota at the same moment, where the cluster starts all at once."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from accounts.models import User
from projects.models import Department, Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.phases import Phase
from spec.problems.errors import SpecError
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.waiting import wait_for
from workloads import services
from workloads.models import Draft, Workload
from workloads.plan import Plan, plan

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]

PATIENCE = 60.0


@pytest.fixture
def project(transactional_db: None, project: Project) -> Project:
    """4 GPUs, no more, and nothing but Trainyard to count them."""
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    project.over_quota = False
    project.save()
    return project


@pytest.fixture
def twin(project: Project) -> Project:
    """Another one of the same department, which may go over its own quota."""
    return ProjectFactory(cluster=project.cluster, department=project.department)


@pytest.fixture
def member() -> User:
    """An administrator submits everywhere."""
    return UserFactory(administrator=True)


@pytest.fixture
def stopped(project: Project) -> tuple[Workload, Workload]:
    one, other = WorkloadFactory.create_batch(2, project=project, stopped=True, gpus=3)
    return one, other


def at_once(*acts: Callable[[], object]) -> list[object]:
    """What each gave or raised, in a thread and with a database connection of its own."""
    outcomes: list[object] = [None] * len(acts)

    def run(number: int) -> None:
        try:
            outcomes[number] = acts[number]()
        except Exception as error:
            outcomes[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return outcomes


def draft(project: Project, name: str) -> WorkloadDraft:
    values = {"image": "x:1", "compute": {"gpuDevicesRequest": 3}}
    return WorkloadDraft(
        name=name,
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values=values),
    )


@pytest.fixture
def both_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody goes on before both have seen that it fits."""
    barrier = threading.Barrier(2)
    seen = threading.local()

    def looked(content: WorkloadDraft, *, by: User, submits: bool = False) -> Plan:
        made = plan(content, by=by, submits=submits)
        if not hasattr(seen, "once"):
            seen.once = True
            barrier.wait(PATIENCE)
        return made

    monkeypatch.setattr(services, "plan", looked)


@pytest.mark.usefixtures("both_looked")
def test_two_submissions_at_once_cannot_both_take_the_last_of_a_quota(
    project: Project, member: User
) -> None:
    outcomes = at_once(
        lambda: services.submit(draft(project, "one"), by=member),
        lambda: services.submit(draft(project, "other"), by=member),
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, SpecError)]
    assert sum(isinstance(outcome, Workload) for outcome in outcomes) == 1, outcomes
    assert [problem.field for error in refused for problem in error.problems] == ["worker.compute"]
    assert "6 GPUs, the quota is 4" in str(refused[0])


@pytest.mark.usefixtures("both_looked")
def test_two_projects_cannot_both_take_the_last_department_quota(
    project: Project, twin: Project, member: User
) -> None:
    at_once(lambda: Department.objects.update(gpu_quota=5, over_quota=False))
    outcomes = at_once(
        lambda: services.submit(draft(project, "one"), by=member),
        lambda: services.submit(draft(twin, "other"), by=member),
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, SpecError)]
    assert sum(isinstance(outcome, Workload) for outcome in outcomes) == 1, outcomes
    assert "6 GPUs, the quota is 5 (3 held) and the department" in str(refused[0])


@pytest.mark.usefixtures("both_looked")
def test_two_submissions_at_once_with_the_same_name_create_a_single_workload(
    project: Project, member: User
) -> None:
    at_once(lambda: Project.objects.update(gpu_quota=100))
    outcomes = at_once(*[lambda: services.submit(draft(project, "one"), by=member)] * 2)
    refused = [outcome for outcome in outcomes if isinstance(outcome, SpecError)]
    assert sum(isinstance(outcome, Workload) for outcome in outcomes) == 1, outcomes
    assert [problem.field for error in refused for problem in error.problems] == ["name"]


def test_a_submission_that_creating_refuses_says_all_that_is_wrong_at_once(
    project: Project, member: User
) -> None:
    """Though making it is what finds out, and stops at the first."""
    services.submit(draft(project, "one"), by=member)
    with pytest.raises(SpecError) as refused:
        services.submit(draft(project, "one"), by=member)
    assert {problem.field for problem in refused.value.problems} == {"name", "worker.compute"}


@pytest.mark.usefixtures("both_looked")
def test_a_double_click_on_the_last_of_a_quota_submits_once(project: Project, member: User) -> None:
    content = draft(project, "one")
    pk = Draft(owner=member).pk
    outcomes = at_once(
        lambda: services.submit(content, by=member, draft_id=pk),
        lambda: services.submit(content, by=member, draft_id=pk),
    )
    assert all(isinstance(outcome, Workload) for outcome in outcomes), outcomes
    assert outcomes[0] == outcomes[1]


def test_two_resumed_workloads_cannot_both_take_the_last_quota(
    stopped: tuple[Workload, Workload], member: User
) -> None:
    """The other one asks before the first has committed, and may have the answer only then."""
    first, second = stopped
    taken = threading.Event()
    answered = threading.Event()

    def one() -> None:
        with transaction.atomic():
            services.resume(first, by=member)
            taken.set()
            if connection.vendor == "postgresql":
                wait_for(lambda: answered.is_set() or _someone_waits(), PATIENCE)

    def other() -> None:
        assert taken.wait(PATIENCE)
        try:
            services.resume(second, by=member)
        finally:
            answered.set()

    won, lost = at_once(one, other)
    assert won is None, won
    assert isinstance(lost, services.NotPossible), lost
    assert "6 GPUs, the quota is 4" in str(lost)
    assert first.phase == Phase.RESUMING


def _someone_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
