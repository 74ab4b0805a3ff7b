"""Turn a draft into a plan: the spec it would become, everything wrong with it, and what it needs.

The wizard's summary, the API's answer and the submission use the same plan, so they agree. Whether
the name is free and the quota has room is only settled at submission: the first one wins.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
from clusters import health
from clusters.connections import complaints, warnings
from clusters.models import Cluster
from clusters.withheld import why_architecture_withheld
from engines.base import Handle
from policies.evaluation import find_violations
from policies.filling import default_rules, fill_in
from policies.models import find_rules
from policies.roles import ROLES
from policies.rules import Enforcement, Rule
from policies.rulings import field_rulings
from projects.models import Project, find_submittable_project
from projects.quotas import Demand
from projects.rules import node_types_of
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.formats import documents
from spec.formats.merge import USER, MergedLayers, parent_paths, path_in_layer
from spec.formats.stored import as_mapping, value_at
from spec.framework import Framework
from spec.kind import WorkloadKind, workload_kind
from spec.problems.errors import TAKEN, Path, Problem, SpecError, path_text
from spec.problems.rulings import FieldRuling
from spec.values.names import check_name
from spec.workload import Architecture, WorkloadSpec
from workloads.models import Workload
from workloads.scheduling import capacity, ports
from workloads.scheduling.admission import Verdict
from workloads.scheduling.fit.foresight import predict
from workloads.scheduling.fit.judge import Fit, Ground
from workloads.scheduling.placement import shortages_of_gang
from workloads.scheduling.quota import choose_pool

#: Returns the rules of policies that hold for workloads of a kind in a project.
FindRules = Callable[[Project, WorkloadKind], tuple[Rule, ...]]
UNSAVED = UUID(int=0)
FRAMEWORK = ("distributedFramework",)  # reported by ``_framework_problems``
ARCHITECTURE = ("architecture",)
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
    #: Parts of the spec without effect on the cluster, or that need what is not there yet.
    warnings: list[Problem] = field(default_factory=list)
    #: Rulings of the template by the dotted path of a field.
    rulings: dict[str, FieldRuling] = field(default_factory=dict)
    #: The rules of the policies that apply to the project, and what they say about each field.
    policy_rules: tuple[Rule, ...] = ()
    policy_rulings: dict[str, FieldRuling] = field(default_factory=dict)
    #: Chosen assets by role (``worker``, ``master``) and kind of asset.
    assets: dict[tuple[str, str], Asset] = field(default_factory=dict)
    #: Chosen assets of kinds of which a pod may have several.
    linked_assets: list[Reference] = field(default_factory=list)
    demand: Demand | None = None
    verdict: Verdict | None = None
    #: Whether it would start now, and the nodes and quotas on which that is judged.
    fit: Fit | None = None
    ground: Ground | None = None

    @cached_property
    def policy_defaults(self) -> dict[str, dict[str, Rule]]:
        """The rules of policies that fill in a field, by its dotted path; those of list items by
        the key of the item."""
        return default_rules(self.policy_rules)

    def origin_of(self, path: str) -> str:
        """Return where the value at a dotted path came from."""
        holders = (path, *parent_paths(path))
        return next((self.origins[holder] for holder in holders if holder in self.origins), "")

    @property
    def is_submittable(self) -> bool:
        return self.spec is not None and not self.problems

    def add_problems(self, problems: Iterable[Problem]) -> None:
        """Add the problems that a step found, without those that an earlier one reported."""
        for problem in problems:
            if problem not in self.problems:
                self.problems.append(problem)

    def require_ready(self) -> ReadyPlan:
        """Return the parts that a submission needs. ``SpecError`` has every problem, at its path in
        the draft."""
        if self.draft.is_template:
            raise SpecError([IS_TEMPLATE])
        if self.problems or not (self.spec and self.project and self.demand):
            entered = self.draft.values | {
                role: replica.values for role, replica in self.draft.replicas.items()
            }
            raise SpecError(
                problem
                if problem.path[:1] == (ROLES,)  # whose items keep their positions
                else replace(problem, path=path_in_layer(problem.path, self.document, entered))
                for problem in self.problems
            )
        return ReadyPlan(self.spec, self.project, self.demand)


def plan(
    draft: WorkloadDraft,
    *,
    by: User,
    submits: bool = False,
    find_project: Callable[[int], Project | None] | None = None,
    find_rules: FindRules = find_rules,
) -> Plan:
    """Plan a draft without asking a cluster.

    With ``submits`` it predicts no start, and does not check whether the name is free and the quota
    has room: the submission settles both. ``find_project`` looks up a project; pass a caching one
    for many drafts. ``find_rules`` returns the rules of policies to judge by.
    """
    result = Plan(draft, by)
    find_project = find_project or partial(find_submittable_project, by=by)
    project = find_project(draft.project) if draft.project is not None else None
    if not _is_on_another_cluster(draft, project):
        result.project = project
        result.cluster = project.cluster if project and draft.cluster else None
    # The rest is checked with a project or cluster that the plan cannot use, so that one wrong id
    # does not hide other problems.
    cluster = result.cluster or _find_cluster(draft, project, by)
    result.add_problems(_project_problems(draft, project))
    result.add_problems(_cluster_problems(draft, project, cluster))

    result.template = _find_template(draft, project, by)
    if result.project and not draft.is_template:
        result.policy_rules = find_rules(result.project, workload_kind(draft.kind))
        result.policy_rulings = field_rulings(result.policy_rules)
    result.add_problems(_resolve_assets(result, project))
    result.add_problems(_load_spec(result, project))
    result.add_problems(_policy_problems(result))
    result.add_problems(_apply_rulings(result))
    result.add_problems(_node_type_problems(result, project))
    if not draft.is_template:
        workers = result.spec.num_workers if result.spec else 1
        result.add_problems(_name_format_problems(draft.name, workers))

    if cluster and draft.is_gang:
        if not draft.roles:  # named roles need no operator of their framework
            result.add_problems(_framework_problems(cluster, draft.framework))
        result.add_problems(_architecture_problems(cluster, draft))
    if cluster and result.spec:
        lacking = _check_on_cluster(result, result.spec, cluster)
        result.add_problems(lacking)
        if lacking and submits:
            health.request_check_if_old(cluster)  # so that the next try is judged on what is there
    if not submits:
        _predict_start(result)
        add_contested_problems(result)
    return result


def find_broken_rules(
    draft: WorkloadDraft,
    project: Project,
    *,
    by: User,
    find_rules: FindRules = find_rules,
) -> list[Problem]:
    """Return where the values of a draft break the policies of a project. Missing values are left
    out, because people who start from a template can still enter them."""
    result = Plan(draft, by, cluster=project.cluster, project=project)
    result.policy_rules = find_rules(project, workload_kind(draft.kind))
    if not result.policy_rules:
        return []
    result.add_problems(_resolve_assets(result, project))
    result.add_problems(_load_spec(result, project))
    result.add_problems(_policy_problems(result))
    sources = {rule.source.label for rule in result.policy_rules}
    return [
        problem
        for problem in result.problems
        if problem.source in sources and problem.rule != Enforcement.REQUIRED
    ]


def add_contested_problems(plan: Plan) -> None:
    """Add the problems that depend on who is first: a taken name, a full quota."""
    if plan.project and plan.cluster:
        if not plan.draft.is_template:
            plan.add_problems(_taken_name_problems(plan.draft.name, plan.project))
        plan.add_problems(_quota_problems(plan, plan.project))


def _is_on_another_cluster(draft: WorkloadDraft, project: Project | None) -> bool:
    if project is None or draft.cluster is None:
        return False
    return project.cluster_id != draft.cluster


def _find_cluster(draft: WorkloadDraft, project: Project | None, by: User) -> Cluster | None:
    """Return the cluster to check the draft with while the plan has none."""
    if draft.cluster:
        chosen = Cluster.objects.visible_to(by).filter(pk=draft.cluster).first()
        if chosen:
            return chosen
    return project.cluster if project else None


def _project_problems(draft: WorkloadDraft, project: Project | None) -> list[Problem]:
    if draft.project is None:
        return [Problem(("project",), "select a project")]
    if project is None:
        message = "this project does not exist, or you are not a member of it"
        return [Problem(("project",), message)]
    return []


def _cluster_problems(
    draft: WorkloadDraft, project: Project | None, cluster: Cluster | None
) -> list[Problem]:
    if draft.cluster is None:
        return [Problem(("cluster",), "select a cluster")]
    if project and _is_on_another_cluster(draft, project):
        message = f"{project.name} belongs to the cluster {project.cluster.name}"
        return [Problem(("cluster",), message)]
    if cluster is None:
        message = "this cluster does not exist, or you have no project on it"
        return [Problem(("cluster",), message)]
    return []


def _find_template(draft: WorkloadDraft, project: Project | None, by: User) -> Template | None:
    if not draft.template:
        return None
    templates = Template.objects.visible_to(by)
    if project:
        templates = templates.usable_in(project)
    return templates.filter(pk=draft.template).first()


def _resolve_assets(plan: Plan, project: Project | None) -> list[Problem]:
    """Merge the values of the draft with those of its assets and its project into ``document``, and
    note where each came from. Return the problems with the chosen assets."""
    draft = plan.draft
    problems: list[Problem] = []
    workload_wide = resolve.merge_workload_values(draft, project, plan.policy_rules)
    layers = {"": workload_wide}
    plan.document = {"kind": draft.kind}
    if draft.has_roles:
        plan.document["distributedFramework"] = draft.framework or None
    elif draft.is_gang:
        plan.document["distributedFramework"] = draft.framework
        plan.document["architecture"] = draft.architecture
    plan.document |= workload_wide.document
    for part in _described_pods(draft):
        resolved = resolve.resolve_replica(
            part.draft,
            project=project,
            user=plan.by,
            framework=draft.framework_of_gang,
            path=part.path,
            rules=plan.policy_rules,
        )
        layers[f"{path_text(part.path)}."] = resolved.merged
        plan.document = part.put(plan.document, resolved.merged.document)
        plan.linked_assets += [(part.role, *asset) for asset in resolved.list_links]
        plan.assets |= {(part.role, kind): asset for kind, asset in resolved.assets.items()}
        problems += resolved.problems
    problems += _superfluous_replicas(draft)
    plan.origins = _value_origins(layers, plan.template)
    plan.document, origins = fill_in(plan.policy_rules, plan.document)
    plan.origins |= origins
    return problems


def _load_spec(plan: Plan, project: Project | None) -> list[Problem]:
    """Bind the credentials that variables refer to, and make the spec. Return what is invalid.

    The credentials are not part of ``document``, which has the values as they were entered.
    """
    document = plan.document
    problems: list[Problem] = []
    for part in _described_pods(plan.draft):
        bound = bind_credentials(part.get(document), project=project, user=plan.by, path=part.path)
        document = part.put(document, bound.document)
        plan.linked_assets += [(part.role, *asset) for asset in bound.linked]
        problems += bound.problems
    try:
        plan.spec = documents.load_spec(document)
    except SpecError as error:
        problems += error.problems
    return problems


def _apply_rulings(plan: Plan) -> list[Problem]:
    """Note the rulings of the template. Return where the draft breaks them."""
    template = plan.template
    if template is None or plan.draft.is_template:
        return []
    plan.rulings = rulings.rulings_of(template)
    return list(rulings.find_violations(template, plan.draft, plan.document, others=plan.problems))


def _policy_problems(plan: Plan) -> Iterator[Problem]:
    """Yield where the draft breaks the policies of its project."""
    if not plan.policy_rules:
        return
    spec = plan.spec
    loaded = documents.dump_spec(spec) if spec else dict(plan.document)
    if spec and spec.master_replica:
        loaded["master"] = documents.dump_spec(spec.master_replica)
    yield from find_violations(
        plan.policy_rules,
        plan.document,
        loaded,
        reported=[problem.field for problem in plan.problems],
        origins=plan.origins,
    )


def _node_type_problems(plan: Plan, project: Project | None) -> Iterator[Problem]:
    """Yield where the draft breaks the scheduling rule for node types."""
    rule = node_types_of(project, plan.draft.traits) if project else None
    if rule is None or plan.draft.is_template:
        return
    for part in _described_pods(plan.draft):
        chosen = part.get(plan.document).get("nodeType")
        if chosen not in rule.types:
            offered = " or ".join(rule.types)
            problem = f"must be {offered}" if chosen else f"is required; choose {offered}"
            yield Problem((*part.path, "nodeType"), f"{problem}, by a rule of {rule.source}")


@dataclass(frozen=True)
class DescribedPods:
    """What a draft says of the pods of one role: the workers, a master with a setup of its own, or
    a named role. ``path`` is theirs in the document."""

    role: str
    path: Path
    draft: ReplicaDraft

    def get(self, document: Values) -> Values:
        """Return their part of a document."""
        return as_mapping(value_at(document, self.path))

    def put(self, document: Values, part: Values) -> Values:
        """Return a document with another part for them."""
        head, *number = self.path
        if not number:
            return {**document, str(head): part}
        items = list(document[str(head)])
        items[int(number[0])] = part
        return {**document, str(head): items}


def _described_pods(draft: WorkloadDraft) -> Iterator[DescribedPods]:
    if draft.has_roles:
        for number, role in enumerate(draft.roles):
            name = str(role.values.get("name") or number)
            yield DescribedPods(name, (ROLES, number), role)
        return
    yield DescribedPods("worker", ("worker",), draft.worker)
    has_master = draft.is_gang and draft.architecture == WORKERS_AND_MASTER
    if draft.master is not None and has_master:
        yield DescribedPods("master", ("master",), draft.master)


def _superfluous_replicas(draft: WorkloadDraft) -> Iterator[Problem]:
    """Yield what describes workers or a master next to named roles."""
    for name, replica in draft.replicas.items() if draft.has_roles else ():
        for key in (*replica.assets, *replica.filled_values):
            yield Problem((name, key), "leave it out, because roles describe all pods")


def _value_origins(layers: dict[str, MergedLayers], template: Template | None) -> dict[str, str]:
    """Return where each value came from. Values left as in the template count as the template's."""
    if template:
        base = template.draft
        template_values = {
            "": base.filled_values,
            "worker.": base.worker.pod_values,
            "master.": base.master.pod_values if base.master else {},
        }
        for prefix, merged in layers.items():
            merged.credit(
                template_values.get(prefix, {}), f"template {template.name}", instead_of=USER
            )
    origins: dict[str, str] = {}
    for prefix, merged in layers.items():
        origins |= {prefix + path: origin for path, origin in merged.origins.items()}
    return origins


def _framework_problems(cluster: Cluster, name: str) -> list[Problem]:
    if name not in list(Framework):
        return []  # the spec reports that
    support = cluster.capabilities.framework(Framework(name))
    return [] if support.available else [Problem(("framework",), support.why)]


def _architecture_problems(cluster: Cluster, draft: WorkloadDraft) -> list[Problem]:
    """Return why the framework cannot have a master on the cluster, or cannot be without one.

    The engine would say the same once there is a spec; this is known before the draft has one.
    """
    is_known = draft.framework in list(Framework) and draft.architecture in list(Architecture)
    if draft.has_roles or not is_known:
        return []
    reason = why_architecture_withheld(
        cluster, Framework(draft.framework), Architecture(draft.architecture)
    )
    return [Problem(ARCHITECTURE, reason)] if reason else []


def _engine_problems(plan: Plan, spec: WorkloadSpec, cluster: Cluster) -> Iterator[Problem]:
    """Yield what the cluster's engine would refuse, without what is reported already."""
    reported = {problem.path for problem in plan.problems} & {ARCHITECTURE}
    for problem in complaints(cluster, _handle(plan), spec):
        if problem.path not in {FRAMEWORK, *reported}:
            yield problem


def _handle(plan: Plan) -> Handle:
    return Handle(UNSAVED, plan.draft.name, plan.project.name if plan.project else "")


def name_problems(name: str, project: Project) -> list[Problem]:
    """Return the problems with a workload's name in a project."""
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


def _quota_problems(plan: Plan, project: Project) -> list[Problem]:
    if not (plan.demand and plan.spec):
        return []
    refusal = choose_pool(project, plan.demand, plan.spec.node_pools).refusal
    return [Problem(plan.spec.demand_path, refusal)] if refusal else []


def _check_on_cluster(plan: Plan, spec: WorkloadSpec, cluster: Cluster) -> list[Problem]:
    """Note the demand and the warnings. Return what the cluster would refuse and what could never
    start there; having to wait is not a problem."""
    plan.warnings += warnings(cluster, _handle(plan), spec)
    plan.warnings += own_values.tool_warnings(spec, plan.linked_assets)
    device_memory = cluster.gpu_memory if spec.depends_on_gpu_memory else 0
    plan.demand = Demand.from_spec(spec, gpu_memory=device_memory)
    problems = [
        *_engine_problems(plan, spec, cluster),
        *own_keys.missing_key_problems(cluster, plan.by),
        *ports.complaints(cluster, spec),
    ]
    if not cluster.capabilities.queues:
        never = shortages_of_gang(
            spec, capacity.room_of_idle_machine(cluster), device_memory=device_memory
        )
        if never:
            message = f"can never start on {cluster.name}: {'; '.join(never)} when it is empty"
            problems.append(Problem(spec.demand_path, message))
    return problems


def _predict_start(plan: Plan) -> None:
    """Predict whether it would start now."""
    if plan.spec and plan.demand and plan.cluster and plan.project:
        if not plan.cluster.capabilities.queues:
            capacity.load_ready_nodes(plan.cluster)
        ahead = predict(plan.cluster, plan.project, plan.spec)
        plan.fit = ahead.fit
        plan.ground = ahead.ground
        plan.verdict = ahead.verdict
