"""From a draft to a plan: the spec it would become, everything wrong with it, what it would need.

The same object drives the wizard's summary, the API's answer and the submission, so that all three
judge alike. Whether a name is free and a quota has room is settled by whoever is first.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from accounts.models import User
from assets import resolve
from assets.models import ComputeResource, Environment, Template
from clusters.engines import refusal
from clusters.models import Cluster
from engines.base import Handle
from projects.models import Project
from projects.quotas import Demand, accounts_of
from spec import documents
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.errors import Problem, SpecError
from spec.names import check_name
from spec.workload import Framework, WorkloadSpec
from workloads import capacity
from workloads.admission import Verdict, judge
from workloads.models import Workload
from workloads.placement import blockers
from workloads.quota import beyond_quota

UNSAVED = UUID(int=0)
WORKERS_AND_MASTER = "workers_and_master"


@dataclass(frozen=True)
class Ready:
    """What a plan without problems always has."""

    spec: WorkloadSpec
    project: Project
    demand: Demand


@dataclass
class Plan:
    """``spec`` is ``None`` while it cannot be one. ``origins`` says, by dotted field, where a value
    came from: ``user``, ``environment pytorch-dt``, ``template base``."""

    draft: WorkloadDraft
    cluster: Cluster | None = None
    project: Project | None = None
    template: Template | None = None
    spec: WorkloadSpec | None = None
    document: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    environments: list[Environment] = field(default_factory=list)
    compute_resources: list[ComputeResource] = field(default_factory=list)
    demand: Demand | None = None
    verdict: Verdict | None = None

    @property
    def submittable(self) -> bool:
        return self.spec is not None and not self.problems

    def ready(self) -> Ready:
        """What a submission needs. ``SpecError`` carries every problem that was looked for."""
        if self.problems or not (self.spec and self.project and self.demand):
            raise SpecError(self.problems)
        return Ready(self.spec, self.project, self.demand)


def plan(
    draft: WorkloadDraft,
    *,
    by: User,
    submits: bool = False,
    find: Callable[[int], Project | None] | None = None,
) -> Plan:
    """Everything that can be said of a draft without touching a cluster. It leaves out whether the
    name is free and the quota has room where it ``submits``, which finds that out for good.

    ``find`` looks a project up; who plans many passes one that remembers.
    """
    made = Plan(draft)
    _find_place(made, find or partial(visible_project, by=by))
    if made.project and made.cluster:
        _resolve(made, made.project, by)
        made.problems += _framework_problems(made.cluster, draft.framework)
        made.problems += _odd_name(draft.name, _workers(made))
        if made.spec:
            _weigh(made, made.spec, made.cluster)
        if not submits:
            _foresee(made, made.cluster, made.project)
            made.problems += _taken(draft.name, made.project)
            made.problems += _over_quota(made.demand, made.project)
    elif not draft.name:
        made.problems.append(Problem(("name",), "is required"))
    return made


def _find_place(made: Plan, find: Callable[[int], Project | None]) -> None:
    draft = made.draft
    if draft.project is None:
        made.problems.append(Problem(("project",), "select a project"))
    else:
        made.project = find(draft.project)
        if made.project is None:
            message = "this project does not exist, or you are not a member of it"
            made.problems.append(Problem(("project",), message))
    if draft.cluster is None:
        made.problems.append(Problem(("cluster",), "select a cluster"))
    elif made.project and made.project.cluster_id != draft.cluster:
        message = f"{made.project.name} belongs to the cluster {made.project.cluster.name}"
        made.problems.append(Problem(("cluster",), message))
        made.project = None
    elif made.project:
        made.cluster = made.project.cluster


def visible_project(pk: int, by: User) -> Project | None:
    """With what a plan asks of it, its cluster and its department."""
    visible = Project.objects.visible_to(by).select_related("cluster", "department")
    visible = visible.defer("description", "cluster__findings_json", "cluster__state_message")
    try:
        return visible.get(pk=pk)  # first() would have it put in order
    except Project.DoesNotExist:
        return None


def _resolve(made: Plan, project: Project, by: User) -> None:
    draft = made.draft
    if draft.template:
        visible = Template.objects.visible_to(by).usable_in(project)
        made.template = visible.filter(pk=draft.template).first()
    document: dict[str, Any] = {
        "distributedFramework": draft.framework,
        "architecture": draft.architecture,
        **draft.given,
    }
    for role, replica in _replicas(draft):
        resolved = resolve.replica(replica, project=project, user=by, at=(role,))
        document[role] = resolved.document
        made.origins |= {f"{role}.{key}": origin for key, origin in resolved.origins.items()}
        made.problems += resolved.problems
        if resolved.environment:
            made.environments.append(resolved.environment)
            made.problems += _environment_problems(resolved.environment, draft.framework, role)
        if resolved.compute:
            made.compute_resources.append(resolved.compute)
        elif not replica.compute and "compute" not in resolved.document and _by_assets(replica):
            made.problems.append(Problem((role, "compute"), "select a compute resource"))
    made.origins |= dict.fromkeys(draft.given, "user")
    made.document = document
    _note_template(made)
    try:
        made.spec = documents.load(document)
    except SpecError as error:
        made.problems += error.problems


def _replicas(draft: WorkloadDraft) -> Iterator[tuple[str, ReplicaDraft]]:
    yield "worker", draft.worker
    if draft.master is not None and draft.architecture == WORKERS_AND_MASTER:
        yield "master", draft.master


def _by_assets(replica: ReplicaDraft) -> bool:
    """Whether the replica is put together from assets; one with its own image has defaults."""
    return "image" not in replica.values


def _environment_problems(environment: Environment, framework: str, role: str) -> list[Problem]:
    why = environment.unfit_for(framework)
    return [Problem((role, "environment"), f"is {why}; choose another")] if why else []


def _note_template(made: Plan) -> None:
    """What the user left as the template had it came from the template."""
    if not made.template:
        return
    base, origin = made.template.draft, f"template {made.template.name}"
    pairs = [
        ("", base.given, made.draft.given),
        ("worker.", base.worker.given, made.draft.worker.given),
    ]
    if base.master and made.draft.master:
        pairs.append(("master.", base.master.given, made.draft.master.given))
    for prefix, before, now in pairs:
        for key, value in now.items():
            if before.get(key) == value:
                made.origins[prefix + key] = origin


def _framework_problems(cluster: Cluster, name: str) -> list[Problem]:
    if name not in list(Framework):
        return []  # the spec says so already
    support = cluster.capabilities.framework(Framework(name))
    return [] if support.available else [Problem(("framework",), support.why)]


def _engine_problems(made: Plan, spec: WorkloadSpec, cluster: Cluster) -> Iterator[Problem]:
    """What the cluster's engine would refuse, before there is a workload to refuse."""
    handle = Handle(UNSAVED, made.draft.name, made.project.name if made.project else "")
    if refused := refusal(cluster, handle, spec):
        steps = re.findall(r"[^.\[\]]+", refused.field)
        path = tuple(int(step) if step.isdigit() else step for step in steps)
        yield Problem(path, str(refused).removeprefix(f"{refused.field}: ").rstrip("."))


def _workers(made: Plan) -> int:
    return made.spec.num_workers if made.spec else 1


def name_problems(name: str, project: Project) -> list[Problem]:
    """Whether a workload may have this name in this project."""
    return _odd_name(name, workers=1) or _taken(name, project)


def _odd_name(name: str, workers: int) -> list[Problem]:
    try:
        check_name(name, workers=workers)
    except ValueError as error:
        return [Problem(("name",), str(error))]
    return []


def _taken(name: str, project: Project) -> list[Problem]:
    if Workload.objects.filter(project=project, name=name, deleted_at=None).exists():
        message = f"{name!r} is taken in {project.name}; enter a different name"
        return [Problem(("name",), message)]
    return []


def _over_quota(demand: Demand | None, project: Project) -> list[Problem]:
    over = beyond_quota(project, demand) if demand else ""
    return [Problem(("worker", "compute"), over)] if over else []


def _weigh(made: Plan, spec: WorkloadSpec, cluster: Cluster) -> None:
    """Demand against machines: what can never start is a problem, what waits is not."""
    made.problems += _engine_problems(made, spec, cluster)
    # A large cluster has thousands of nodes to look through.
    device_memory = cluster.gpu_memory if spec.asks_gpu_memory else 0
    made.demand = Demand.of(spec, gpu_memory=device_memory)
    if not cluster.capabilities.queues:
        never = blockers(spec, capacity.whole(cluster), device_memory=device_memory)
        if never:
            message = f"can never start on {cluster.name}: {'; '.join(never)} when it is empty"
            made.problems.append(Problem(("worker", "compute"), message))


def _foresee(made: Plan, cluster: Cluster, project: Project) -> None:
    """Whether it would start now, where Trainyard admits."""
    if made.spec and made.demand and not cluster.capabilities.queues:
        device_memory = cluster.gpu_memory if made.spec.asks_gpu_memory else 0
        quotas = accounts_of([project])[project.pk]
        room = capacity.free(cluster)
        made.verdict = judge(made.spec, made.demand, quotas, room, device_memory)
