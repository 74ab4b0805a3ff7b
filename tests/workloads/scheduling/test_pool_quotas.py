"""Quotas per node pool: in which pool a workload counts, and what its quota refuses."""

import pytest

from accounts.models import User
from clusters.models import Node, NodePool
from projects.models import Project
from projects.quotas import usage_of
from spec.draft import WorkloadDraft
from spec.phases import Phase, Reason
from tests.factories import ProjectFactory, WorkloadFactory
from tests.workloads.gangs import draft, now, waiting
from workloads import services, submission
from workloads.models import Workload
from workloads.plan import plan
from workloads.scheduling import admission
from workloads.scheduling.fit.judge import Answer
from workloads.scheduling.quota import limiting_accounts
from workloads.worker.pools import settle_pools

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(member: User) -> Project:
    """A project with 4 GPUs in each of three pools, which starts all that it is given."""
    project: Project = ProjectFactory(
        name="vision", members=[member], over_quota=False, cluster__kind="kubernetes"
    )
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    for name in ("a100", "t4"):
        pool = NodePool.objects.create(
            cluster=project.cluster, name=name, label_key="gpu", label_value=name
        )
        project.pool_quotas.create(pool=pool, gpu_quota=4, over_quota=False)
    return project


def in_pools(project: Project, gpus: int, *pools: str) -> WorkloadDraft:
    made = draft(project, gpus)
    return made.model_copy(update={"values": {**made.values, "nodePools": list(pools)}})


def running(project: Project, gpus: int, pool: str = "") -> Workload:
    row = project.cluster.pools.filter(name=pool).first()
    workload: Workload = WorkloadFactory(project=project, running=True, gpus=gpus, pool=row)
    return workload


def add_node(project: Project, name: str, pool: NodePool | None = None) -> None:
    size = {"cpu": 64, "memory": 10**12, "gpu_count": 8}
    Node.objects.create(cluster=project.cluster, name=name, pool=pool, **size)


def pool_of(workload: Workload) -> str:
    workload.refresh_from_db()
    return workload.pool.name if workload.pool else "default"


@pytest.mark.parametrize(
    ("pools", "counted_in"),
    [((), "default"), (("default",), "default"), (("a100",), "a100"), (("t4", "a100"), "t4")],
)
def test_a_submission_counts_in_the_first_pool_that_it_names(
    queued: Project, member: User, pools: tuple[str, ...], counted_in: str
) -> None:
    workload = services.submit(in_pools(queued, 2, *pools), by=member)
    assert pool_of(workload) == counted_in
    usage = usage_of([queued], {Phase.CREATING})[queued.pk]
    assert usage.in_pool(counted_in).gpus == 2
    assert usage.demand.gpus == 2


def test_a_full_pool_leaves_it_to_the_next_one(queued: Project, member: User) -> None:
    running(queued, 3, "a100")
    assert pool_of(services.submit(in_pools(queued, 2, "a100", "t4"), by=member)) == "t4"


def test_without_names_any_pool_will_do(queued: Project, member: User) -> None:
    running(queued, 4)
    assert pool_of(services.submit(in_pools(queued, 2), by=member)) == "a100"


def test_a_refusal_names_pool_and_quota(queued: Project, member: User) -> None:
    running(queued, 3, "a100")
    (problem,) = plan(in_pools(queued, 2, "a100"), by=member).problems
    assert problem.message == (
        "asks, with the project's other workloads, for 5 GPUs, the quota is 4 (3 held) and vision "
        "in the node pool a100 may not go over it"
    )


def test_a_limit_is_never_exceeded_where_over_quota_is_on(queued: Project, member: User) -> None:
    queued.pool_quotas.filter(pool__name="a100").update(over_quota=True, gpu_limit=6)
    assert plan(in_pools(queued, 6, "a100"), by=member).is_submittable
    (problem,) = plan(in_pools(queued, 7, "a100"), by=member).problems
    assert "for 7 GPUs, the limit is 6" in problem.message


def test_a_department_limits_its_projects_in_a_pool(queued: Project, member: User) -> None:
    queued.pool_quotas.update(over_quota=True)
    pool = NodePool.objects.get(name="a100")
    queued.department.pool_quotas.create(pool=pool, gpu_limit=5)
    other = ProjectFactory(cluster=queued.cluster, department=queued.department)
    running(other, 3, "a100")
    assert plan(in_pools(queued, 2, "a100"), by=member).is_submittable
    (problem,) = plan(in_pools(queued, 3, "a100"), by=member).problems
    assert "6 GPUs, the limit is 5 (3 held) and the department" in problem.message
    assert plan(in_pools(queued, 3, "t4"), by=member).is_submittable


def test_a_batch_has_to_fit_into_its_pools_together(queued: Project, member: User) -> None:
    drafts = [
        in_pools(queued, 2, *pools).model_copy(update={"name": f"train-{number}"})
        for number, pools in enumerate((("a100",), ("t4",), ("a100", "t4"), ("t4",)))
    ]
    made = submission.submit_all(drafts[:3], by=member)
    assert [pool_of(it) for it in made] == ["a100", "t4", "a100"]
    Workload.objects.all().delete()
    with pytest.raises(submission.BatchError, match="in the node pool t4"):
        submission.submit_all(
            [*drafts[:3], in_pools(queued, 3, "t4").model_copy(update={"name": "more"})],
            by=member,
        )


def test_a_workload_that_runs_again_counts_where_there_is_room(
    queued: Project, member: User
) -> None:
    workload = services.submit(in_pools(queued, 4, "a100", "t4"), by=member)
    Workload.objects.update(phase=Phase.STOPPED)
    running(queued, 2, "a100")
    services.resume(now(workload), by=member)
    assert pool_of(workload) == "t4"


def test_a_running_workload_counts_in_the_pool_that_most_of_its_ranks_are_in(
    queued: Project,
) -> None:
    a100 = NodePool.objects.get(name="a100")
    for name, pool in (("n1", a100), ("n2", a100), ("n3", None)):
        add_node(queued, name, pool)
    workload = running(queued, 3)
    for rank, node in zip(workload.ranks.all(), ("n3", "n1", "n2"), strict=True):
        rank.node = node
        rank.save()
    settle_pools(queued.cluster)
    assert pool_of(workload) == "a100"
    a100.delete()
    assert pool_of(workload) == "default"


def test_with_queues_that_enforce_quotas_it_stays_in_that_of_its_queue(
    queued: Project, member: User
) -> None:
    queued.cluster.capabilities_json["quotas"] = True
    queued.cluster.save()
    add_node(queued, "n1")
    workload = services.submit(in_pools(queued, 4, "a100", "t4"), by=member)
    Workload.objects.update(phase=Phase.RUNNING)
    workload.ranks.update(node="n1")
    settle_pools(queued.cluster)
    assert pool_of(workload) == "a100"
    made = plan(in_pools(queued, 1, "a100").model_copy(update={"name": "next"}), by=member)
    assert made.fit
    assert made.ground
    assert made.ground.accounts["a100"][0].usage.gpus == 4
    assert made.ground.accounts["t4"][0].usage.gpus == 0


def test_a_guarantee_is_compared_with_the_quota_of_its_pool(queued: Project, member: User) -> None:
    queued.cluster.capabilities_json["quotas"] = True
    queued.cluster.save()
    queued.pool_quotas.update(over_quota=True)
    add_node(queued, "n1", NodePool.objects.get(name="a100"))
    made = in_pools(queued, 5, "a100")
    made = made.model_copy(update={"values": {**made.values, "preemptibility": "non-preemptible"}})
    fit = plan(made, by=member).fit
    assert fit
    assert fit.cause
    assert fit.answer is Answer.NEVER
    assert "the quota of vision in the node pool a100: 5 GPUs, the quota is 4" in fit.cause.title


def test_meters_are_those_of_the_pool(queued: Project) -> None:
    running(queued, 3, "t4")
    running(queued, 1)
    usage = {
        pool: limiting_accounts(queued, pool)[0].usage.gpus for pool in ("default", "a100", "t4")
    }
    assert usage == {"default": 1, "a100": 0, "t4": 3}


@pytest.mark.usefixtures("engine")
def test_this_machine_never_gives_more_than_the_limit(project: Project) -> None:
    project.gpu_quota = 1
    project.gpu_limit = 2
    project.save()
    first = waiting(project, "first", 2)
    second = waiting(project, "second", 1)
    admission.admit_waiting(project.cluster)
    assert now(second).phase == Phase.INITIALIZING, "it is within the quota"
    assert now(first).reason == Reason.WAITING_FOR_QUOTA
    assert "3 GPUs, the limit is 2 (1 held)" in now(first).message


@pytest.mark.usefixtures("engine")
def test_this_machine_holds_projects_to_the_limit_of_their_department(project: Project) -> None:
    project.department.gpu_limit = 1
    project.department.save()
    first = waiting(project, "first", 1)
    second = waiting(project, "second", 1)
    admission.admit_waiting(project.cluster)
    assert (now(first).phase, now(second).phase) == (Phase.INITIALIZING, Phase.PENDING)
    assert f"the department {project.department}" in now(second).message
