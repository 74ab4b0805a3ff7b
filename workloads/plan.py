"""Turn a draft into a plan: the spec it would become, everything wrong with it, and what it needs.

The wizard's summary, the API's answer and the submission use the same plan, so they agree. Whether
the name is free and the quota has room is only settled at submission, by whoever is first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from accounts.models import User
from assets import resolve
from assets.asset import Asset
from assets.credential import own_keys, own_values
from assets.credential.injection.binding import bind_credentials
from assets.links import Reference
from assets.models import Template
from assets.template import rulings
from clusters.connections import complaints, warnings
from clusters.models import Cluster
from engines.base import Handle
from projects.models import Project, find_submittable_project
from projects.quotas import Demand
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.formats.merge import USER, Merged, given_path
from spec.framework import Framework
from spec.problems.errors import TAKEN, Problem, SpecError
from spec.problems.rulings import FieldRuling
from spec.values.names import check_name
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling import capacity, ports
from workloads.scheduling.admission import Verdict
from workloads.scheduling.fit.foresight import look_ahead
from workloads.scheduling.fit.judge import Fit, Ground
from workloads.scheduling.placement import blockers
from workloads.scheduling.quota import beyond_quota

UNSAVED = UUID(int=0)
FRAMEWORK = ("distributedFramework",)
WORKERS_AND_MASTER = "workers_and_master"
IS_TEMPLATE = Problem(
    ("name",), "belongs to a workload; this is a template, begin a workload with it"
)


@dataclass(frozen=True)
class ReadyPlan:
    """The parts that a plan without problems always has."""

    spec: WorkloadSpec
    project: Project
    demand: Demand


@dataclass
class Plan:
    """The result of planning a draft.

    ``spec`` is ``None`` while the draft does not make a valid one. ``origins`` says for each dotted
    field where its value came from: ``user``, ``environment pytorch-dt``, ``template base``.
    """

    draft: WorkloadDraft
    by: User
    cluster: Cluster | None = None
    project: Project | None = None
    template: Template | None = None
    spec: WorkloadSpec | None = None
    document: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    #: What in the spec has no effect on the cluster, or waits for something that is not there yet.
    warnings: list[Problem] = field(default_factory=list)
    #: Rulings of the template by the dotted path of a field.
    fields: dict[str, FieldRuling] = field(default_factory=dict)
    #: Chosen assets by role (``worker``, ``master``) and kind of asset.
    assets: dict[tuple[str, str], Asset] = field(default_factory=dict)
    #: Chosen assets of kinds of which a pod may have several.
    linked: list[Reference] = field(default_factory=list)
    demand: Demand | None = None
    verdict: Verdict | None = None
    #: Whether it would start now, and the nodes and quotas on which that is judged.
    fit: Fit | None = None
    ground: Ground | None = None

    @property
    def submittable(self) -> bool:
        return self.spec is not None and not self.problems

    def ready(self) -> ReadyPlan:
        """The parts that a submission needs. ``SpecError`` has every problem, at its path in the
        draft."""
        if self.draft.is_template:
            raise SpecError([IS_TEMPLATE])
        if self.problems or not (self.spec and self.project and self.demand):
            given = self.draft.values | {
                role: replica.values for role, replica in _replicas(self.draft)
            }
            raise SpecError(
                replace(problem, path=given_path(problem.path, self.document, given))
                for problem in self.problems
            )
        return ReadyPlan(self.spec, self.project, self.demand)


def plan(
    draft: WorkloadDraft,
    *,
    by: User,
    submits: bool = False,
    find: Callable[[int], Project | None] | None = None,
) -> Plan:
    """Plan a draft without asking a cluster.

    With ``submits`` it predicts no start, and does not check whether the name is free and the quota
    has room: the submission settles both. ``find`` looks up a project; pass a caching one for many.
    """
    result = Plan(draft, by)
    project = _find_project(result, find or partial(find_submittable_project, by=by))
    cluster = result.cluster or _find_cluster(result, project, by)
    _resolve(result, project, by)
    if not draft.is_template:
        result.problems += _name_format_problems(
            draft.name, result.spec.num_workers if result.spec else 1
        )
    if cluster and draft.is_gang:
        result.problems += _framework_problems(cluster, draft.framework)
    if cluster and result.spec:
        _weigh(result, result.spec, cluster)
    if not submits:
        _foresee(result)
        add_contested_problems(result)
    return result


def add_contested_problems(plan: Plan) -> None:
    """Add the problems that depend on who is first: a taken name, a full quota."""
    if plan.project and plan.cluster:
        named = (
            [] if plan.draft.is_template else _taken_name_problems(plan.draft.name, plan.project)
        )
        late = named + _quota_problems(plan.demand, plan.project)
        plan.problems += [problem for problem in late if problem not in plan.problems]


def _find_project(plan: Plan, find: Callable[[int], Project | None]) -> Project | None:
    """The project that the draft names, even if the plan cannot use it: the rest is judged by it
    all the same, so that one wrong id does not hide other problems."""
    draft = plan.draft
    project = find(draft.project) if draft.project is not None else None
    if draft.project is None:
        plan.problems.append(Problem(("project",), "select a project"))
    elif project is None:
        message = "this project does not exist, or you are not a member of it"
        plan.problems.append(Problem(("project",), message))
    if draft.cluster is None:
        plan.problems.append(Problem(("cluster",), "select a cluster"))
    elif project and project.cluster_id != draft.cluster:
        message = f"{project.name} belongs to the cluster {project.cluster.name}"
        plan.problems.append(Problem(("cluster",), message))
        return project
    plan.project = project
    plan.cluster = project.cluster if project and draft.cluster else None
    return project


def _find_cluster(plan: Plan, project: Project | None, by: User) -> Cluster | None:
    """The cluster to judge by while the plan has none."""
    chosen = plan.draft.cluster
    cluster = Cluster.objects.visible_to(by).filter(pk=chosen).first() if chosen else None
    if chosen and cluster is None and project is None:
        message = "this cluster does not exist, or you have no project on it"
        plan.problems.append(Problem(("cluster",), message))
    return cluster or (project.cluster if project else None)


def _resolve(plan: Plan, project: Project | None, by: User) -> None:
    draft = plan.draft
    if draft.template:
        visible = Template.objects.visible_to(by)
        usable = visible.usable_in(project) if project else visible
        plan.template = usable.filter(pk=draft.template).first()
    whole = resolve.merge_workload_values(draft, project)
    layers = {"": whole}
    gang = {"distributedFramework": draft.framework, "architecture": draft.architecture}
    own = gang if draft.is_gang else {}
    plan.document = {"kind": draft.kind, **own, **whole.document}
    for role, replica in _replicas(draft):
        resolved = resolve.resolve_replica(
            replica, project=project, user=by, framework=draft.met_by, at=(role,)
        )
        layers[f"{role}."] = resolved.merged
        plan.document[role] = resolved.merged.document
        plan.problems += resolved.problems
        plan.linked += [(role, *each) for each in resolved.list_links]
        plan.assets |= {(role, kind): asset for kind, asset in resolved.assets.items()}
    plan.origins = _value_origins(layers, plan.template)
    try:
        plan.spec = documents.load_spec(_bound(plan, project, by))
    except SpecError as error:
        plan.problems += [it for it in error.problems if it not in plan.problems]
    if plan.template and not draft.is_template:
        plan.fields = rulings.rulings_of(plan.template)
        plan.problems += rulings.find_violations(
            plan.template, draft, plan.document, others=plan.problems
        )


def _bound(plan: Plan, project: Project | None, by: User) -> documents.Document:
    """The document with the credentials that its variables refer to."""
    document = plan.document
    for role, _ in _replicas(plan.draft):
        bound = bind_credentials(document[role], project=project, user=by, at=(role,))
        document = document | {role: bound.document}
        plan.problems += bound.problems
        plan.linked += [(role, *each) for each in bound.linked]
    return document


def _replicas(draft: WorkloadDraft) -> Iterator[tuple[str, ReplicaDraft]]:
    yield "worker", draft.worker
    has_master = draft.is_gang and draft.architecture == WORKERS_AND_MASTER
    if draft.master is not None and has_master:
        yield "master", draft.master


def _value_origins(layers: dict[str, Merged], template: Template | None) -> dict[str, str]:
    """Where each value came from; values left as in the template count as the template's."""
    if template:
        base = template.draft
        theirs = {"": base.given, "worker.": base.worker.of_the_pod}
        theirs["master."] = base.master.of_the_pod if base.master else {}
        for within, merged in layers.items():
            merged.credit(theirs[within], f"template {template.name}", instead_of=USER)
    each = ((at + path, it) for at, of in layers.items() for path, it in of.origins.items())
    return dict(each)


def _framework_problems(cluster: Cluster, name: str) -> list[Problem]:
    if name not in list(Framework):
        return []  # the spec reports that
    support = cluster.capabilities.framework(Framework(name))
    return [] if support.available else [Problem(("framework",), support.why)]


def _engine_problems(plan: Plan, spec: WorkloadSpec, cluster: Cluster) -> Iterator[Problem]:
    """What the cluster's engine would refuse."""
    for problem in complaints(cluster, _handle(plan), spec):
        if problem.path != FRAMEWORK:  # reported by ``_framework_problems``
            yield problem


def _handle(plan: Plan) -> Handle:
    return Handle(UNSAVED, plan.draft.name, plan.project.name if plan.project else "")


def name_problems(name: str, project: Project) -> list[Problem]:
    """Problems with a workload's name in a project."""
    return _name_format_problems(name, workers=1) or _taken_name_problems(name, project)


def _name_format_problems(name: str, workers: int) -> list[Problem]:
    try:
        check_name(name, workers=workers)
    except ValueError as error:
        return [Problem(("name",), str(error))]
    return []


def _taken_name_problems(name: str, project: Project) -> list[Problem]:
    if Workload.objects.filter(project=project, name=name, deleted_at=None).exists():
        message = f"{name!r} already exists in {project.name}; enter a different name"
        return [Problem(("name",), message, TAKEN)]
    return []


def _quota_problems(demand: Demand | None, project: Project) -> list[Problem]:
    over = beyond_quota(project, demand) if demand else ""
    return [Problem(("worker", "compute"), over)] if over else []


def _weigh(plan: Plan, spec: WorkloadSpec, cluster: Cluster) -> None:
    """Judge the demand: what can never start is a problem; having to wait is not."""
    plan.problems += _engine_problems(plan, spec, cluster)
    plan.warnings += warnings(cluster, _handle(plan), spec)
    plan.warnings += own_values.tool_warnings(spec, plan.linked)
    plan.problems += own_keys.missing_key_problems(cluster, plan.by)
    plan.problems += ports.complaints(cluster, spec)
    device_memory = cluster.gpu_memory if spec.asks_gpu_memory else 0
    plan.demand = Demand.from_spec(spec, gpu_memory=device_memory)
    if not cluster.capabilities.queues:
        never = blockers(spec, capacity.at_rest(cluster), device_memory=device_memory)
        if never:
            message = f"can never start on {cluster.name}: {'; '.join(never)} when it is empty"
            plan.problems.append(Problem(("worker", "compute"), message))


def _foresee(plan: Plan) -> None:
    """Predict whether it would start now."""
    if plan.spec and plan.demand and plan.cluster and plan.project:
        if not plan.cluster.capabilities.queues:
            capacity.keep_nodes(plan.cluster)
        ahead = look_ahead(plan.cluster, plan.project, plan.spec)
        plan.fit = ahead.fit
        plan.ground = ahead.ground
        plan.verdict = ahead.verdict
