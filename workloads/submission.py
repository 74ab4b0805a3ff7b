"""Create the rows of planned workloads, one or many at once, and send the message to run them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any

from django.db import IntegrityError, transaction

from accounts import access
from accounts.models import User
from assets.credential.injection import registries
from assets.credential.kind import CREDENTIAL
from assets.links import Reference
from audit import services as audit
from clusters.connections import site_of
from core.storage import require_space
from engines.base import Handle, Launch
from projects.models import Project, find_submittable_project
from projects.quotas import Demand
from spec.draft import WorkloadDraft
from spec.formats import documents
from spec.problems.errors import Problem, SpecError
from spec.workload import WorkloadSpec
from workloads import enqueue
from workloads.history import events
from workloads.launch import registry_credentials
from workloads.models import Rank, Source, Workload, WorkloadAsset
from workloads.models.choices import NAMED_ROLES, STANDARD
from workloads.plan import UNSAVED, Plan, ReadyPlan, add_contested_problems, plan
from workloads.scheduling.fit.score import verdict_columns
from workloads.scheduling.limits import rule_limits, time_limits
from workloads.scheduling.quota import (
    choose_pool,
    find_pools,
    lock_and_choose_pool,
    starts_at_once,
)


def create(
    plans: Sequence[Plan],
    pools: Sequence[str],
    *,
    by: User,
    source: Source,
    **origin: Any,
) -> list[Workload]:
    """Create one workload per plan, all in one project, in the order of the plans. ``pools`` are
    the node pools in whose quotas they count.

    ``origin`` says what a single plan was made from: ``draft_id``, ``copied_from``,
    ``manifest_json``; or ``array_number`` and ``array_limit`` of the elements of a job array. Call
    it in a transaction. ``SpecError`` if a plan has problems,
    ``IntegrityError`` if a name was taken meanwhile, ``DiskFull`` if the disk is full up to its
    reserve.
    """
    require_space()
    origin |= {"created_by": by, "source": source}
    ready_plans = [planned.require_ready() for planned in plans]
    rows = find_pools(ready_plans[0].project, pools)
    workloads = [
        _workload_row(planned, ready, pool=rows.get(pool), **origin)
        for planned, ready, pool in zip(plans, ready_plans, pools, strict=True)
    ]
    # Queue times were set above, so the order of inserting is free. By name: two transactions that
    # take the same names then cannot deadlock.
    Workload.objects.bulk_create(sorted(workloads, key=attrgetter("name")))
    WorkloadAsset.objects.bulk_create(
        link
        for workload, planned in zip(workloads, plans, strict=True)
        for link in WorkloadAsset.build_links(workload, _references(planned))
    )
    Rank.objects.bulk_create(
        Rank(workload=workload, rank=pod.rank, role=pod.role, index=pod.index)
        for workload, ready in zip(workloads, ready_plans, strict=True)
        for pod in ready.spec.pods
    )
    events.record_submissions(workloads, actor=by)
    audit.record_each(by, "create", workloads)
    enqueue.submit(*workloads)
    return workloads


def _workload_row(planned: Plan, ready: ReadyPlan, **origin: Any) -> Workload:
    spec = ready.spec
    demand = ready.demand
    workload = Workload(
        name=planned.draft.name,
        project=ready.project,
        cluster=ready.project.cluster,
        draft_json=planned.draft.model_dump(mode="json", by_alias=True),
        spec_json=documents.dump_spec(spec),
        origins_json=planned.origins,
        template=planned.template,
        kind=spec.kind,
        framework=spec.distributed_framework or "",
        architecture=_architecture(spec),
        image=spec.worker.image or "",
        num_pods=spec.num_pods,
        gpus=demand.gpus,
        cpu_cores=demand.cpu,
        memory_bytes=demand.memory,
        time_limit_seconds=time_limits.limit_to_enforce(spec),
        idle_limit_seconds=spec.idle_limit_seconds,
        **rule_limits.columns_at_submission(ready.project, spec, demand.gpus),
        **verdict_columns(planned.fit),
        **origin,
    )
    workload.message = workload.array_sentence
    workload.warnings = planned.warnings
    return workload


def _architecture(spec: WorkloadSpec) -> str:
    if spec.roles:
        return NAMED_ROLES
    return spec.architecture if spec.kind.is_gang else STANDARD


def _references(planned: Plan) -> Iterator[Reference]:
    """Yield a link for each asset, credential and template that a plan uses."""
    for (role, kind), asset in planned.assets.items():
        yield role, kind, asset.pk
    yield from planned.linked_assets
    if planned.spec and planned.project:
        cluster = planned.project.cluster
        for credential in registry_credentials(
            planned.spec, planned.project, on=cluster, by=planned.by
        ):
            yield "", CREDENTIAL.slug, credential.pk
    if planned.template:
        yield "", "template", planned.template.pk


def launch_of_plan(planned: Plan, by: User) -> Launch | None:
    """Return the launch of an unsaved plan, without secret values; ``None`` while it cannot be
    submitted."""
    if not (planned.is_submittable and planned.spec and planned.project and planned.cluster):
        return None
    spec = planned.spec
    project = planned.project
    cluster = planned.cluster
    return Launch(
        handle=Handle(UNSAVED, planned.draft.name, project.name),
        run=1,
        spec=spec,
        submitted_by=by.username,
        site=site_of(cluster, spec),
        registries=registries.registries_without_passwords(
            registry_credentials(spec, project, on=cluster, by=by)
        ),
    )


class BatchError(ValueError):
    """Problems of a batch. Each has the index of its draft, or ``None`` if it concerns all."""

    def __init__(self, problems: Iterable[tuple[int | None, Problem]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{index}: {it.field}: {it.message}" for index, it in self.problems]
        super().__init__("; ".join(lines))


def submit_all(
    drafts: Sequence[WorkloadDraft], *, by: User, source: Source = Source.API, **origin: Any
) -> list[Workload]:
    """Create a workload of each draft, in order. If any has a problem nothing is created, and
    ``BatchError`` carries all problems. ``origin`` is that of :func:`create`."""
    plans = _plan_all(drafts, by)
    try:
        _raise_batch_problems(plans)
        with transaction.atomic():
            pools = _choose_pools([planned.require_ready() for planned in plans])
            return create(plans, pools, by=by, source=source, **origin)
    except (IntegrityError, BatchError) as error:
        # Perhaps a name was taken; planning again tells which, and what else is wrong by now.
        if isinstance(error, IntegrityError):
            access.forget_rules(by)
            plans = _plan_all(drafts, by)
        for planned in plans:
            add_contested_problems(planned)
        _raise_batch_problems(plans)
        raise


def check_all(drafts: Sequence[WorkloadDraft], *, by: User) -> None:
    """Check whether :func:`submit_all` would accept the drafts, without creating anything.
    ``BatchError`` if not."""
    plans = _plan_all(drafts, by)
    _raise_batch_problems(plans)
    with transaction.atomic():
        _choose_pools([planned.require_ready() for planned in plans])


def _plan_all(drafts: Sequence[WorkloadDraft], by: User) -> list[Plan]:
    find = cache(partial(find_submittable_project, by=by))  # one query for all drafts
    return [plan(draft, by=by, submits=True, find_project=find) for draft in drafts]


def _raise_batch_problems(plans: Sequence[Plan]) -> None:
    """Raise ``BatchError`` unless every plan is ready and all can be created together."""
    names = Counter(planned.draft.name for planned in plans)
    problems: list[tuple[int | None, Problem]] = []
    for index, planned in enumerate(plans):
        try:
            planned.require_ready()
        except SpecError as error:
            problems += [(index, problem) for problem in error.problems]
        name = planned.draft.name
        if name and names[name] > 1:
            message = f"{name!r} is used more than once in this batch"
            problems.append((index, Problem(("name",), message)))
        if planned.draft.project != plans[0].draft.project:
            message = "all workloads of a batch must be in the same project"
            problems.append((index, Problem(("project",), message)))
    if problems:
        raise BatchError(problems)


def _choose_pools(ready_plans: Sequence[ReadyPlan]) -> list[str]:
    """Return the node pool in whose quota each workload counts, in order. Raise ``BatchError`` if a
    quota has no room. If workloads start at once, it needs room for all of them together; else each
    waits its turn, and only one that could never start is refused."""
    project = ready_plans[0].project
    if starts_at_once(project.cluster):
        return _choose_pools_together(project, ready_plans)
    choose = cache(partial(choose_pool, project))
    choices = [choose(ready.demand, ready.spec.node_pools) for ready in ready_plans]
    problems: list[tuple[int | None, Problem]] = [
        (index, Problem(ready.spec.demand_path, choice.refusal))
        for index, (ready, choice) in enumerate(zip(ready_plans, choices, strict=True))
        if choice.refusal
    ]
    if problems:
        raise BatchError(problems)
    return [choice.pool for choice in choices]


def _choose_pools_together(project: Project, ready_plans: Sequence[ReadyPlan]) -> list[str]:
    """Do that for workloads that start at once: those that name the same node pools count in the
    same quota."""
    demands: dict[tuple[str, ...], Demand] = {}
    for ready in ready_plans:
        names = ready.spec.node_pools
        demands[names] = demands.get(names, Demand()) + ready.demand
    chosen: dict[tuple[str, ...], str] = {}
    submitted: dict[str, Demand] = {}
    for names, demand in demands.items():
        choice = lock_and_choose_pool(project, demand, names, submitted)
        if choice.refusal:
            raise BatchError([(None, Problem((), choice.refusal))])
        chosen[names] = choice.pool
        submitted[choice.pool] = submitted.get(choice.pool, Demand()) + demand
    return [chosen[ready.spec.node_pools] for ready in ready_plans]
