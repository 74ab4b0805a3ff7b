"""What a submission would meet, without submitting: ``dryRun=true``."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Self

from django.core.exceptions import ObjectDoesNotExist

from accounts.models import User
from core.rest.api import Issue, Parameters, Wire, words
from engines.base import EngineError
from spec.formats import documents
from spec.formats.published import PORTS, URLS, published_at
from spec.kind import WorkloadKind
from spec.problems.errors import Problem, SpecError
from spec.problems.rulings import FieldRuling
from spec.values.variable import MASK, looks_secret
from spec.workload import Replica, WorkloadSpec
from workloads.api.reads.why import ShareOut
from workloads.api.spec_schemas import spec_of
from workloads.api.warnings import WarningOut
from workloads.api.words import AnyCause, MasterDocument
from workloads.launch import manifests
from workloads.plan import Plan
from workloads.scheduling.fit.judge import Fit
from workloads.scheduling.fit.repairs import Repair
from workloads.submission import planned_launch_of
from workloads.wizard import repairs

AnswerWord = Annotated[str, words("now", "later", "never", "unknown")]
FieldOf = Callable[[Problem], str]
ROOTS = {"worker": "spec", "master": "masterSpec"}
CONNECTIONS = "connections"
CONNECTION = re.compile(rf"{CONNECTIONS}\[(\d+)\]")


class DryRun(Parameters):
    """``dryRun=true`` submits nothing and answers what would happen."""

    dry_run: bool = False


class RepairOut(Wire):
    """A change with which the workload gets the ``answer``: ``workers=4``, ``shape=2x4``,
    ``pool=a100``, ``type=h100`` or ``compute=<id of a compute resource>``."""

    change: str
    label: str
    answer: AnswerWord

    @classmethod
    def of(cls, repair: Repair) -> "RepairOut":
        return cls(change=repair.change, label=repair.label, answer=repair.answer)


class VerdictOut(Wire):
    """Whether it would start: ``now``, ``later``, ``never``, or ``unknown`` if the cluster's queue
    decides. ``kind``, ``title``, ``nextStep``, ``nodes`` and ``shares`` are as in ``cause`` of a
    workload that waits. ``largestWorkers`` would start now; null if that is not known."""

    answer: AnswerWord
    kind: AnyCause
    title: str
    next_step: str
    nodes: int
    shares: list[ShareOut]
    largest_workers: int | None
    repairs: list[RepairOut]

    @classmethod
    def of(cls, fit: Fit, offered: Iterable[Repair]) -> "VerdictOut":
        cause = fit.cause
        return cls(
            answer=fit.answer,
            kind=cause.kind if cause else "",
            title=cause.title if cause else fit.note,
            next_step=cause.todo if cause else "",
            nodes=cause.total if cause else 0,
            shares=[ShareOut(reason=it.label, nodes=it.nodes) for it in cause.shares]
            if cause
            else [],
            largest_workers=fit.largest,
            repairs=[RepairOut.of(repair) for repair in offered],
        )


class RulingOut(Wire):
    """What a template says of a field: what is locked stays as the template has it."""

    field: str
    locked: bool
    required: bool
    source: str
    why: str

    @classmethod
    def of(cls, field: str, ruling: FieldRuling) -> Self:
        return cls(
            field=field,
            locked=ruling.locked,
            required=ruling.required,
            source=ruling.source,
            why=ruling.why,
        )


class DryRunOut(Wire):
    """``valid``: submitted now, it would be accepted. ``spec`` is the one that it would get, with
    what assets and its project give. It and ``verdict`` are null if the request is too incomplete
    for them. ``sources`` says by field where a value is from: ``user``, ``environment pytorch``,
    ``template base``; what it does not name is from where the field is that holds it, or is a
    default. ``manifests`` are what the cluster would be handed."""

    dry_run: bool = True
    name: str
    valid: bool
    compliance_issues: list[Issue]
    warnings: list[WarningOut] = []
    spec: Annotated[dict[str, Any] | None, spec_of(*WorkloadKind, null=True)] = None
    master_spec: MasterDocument = None
    sources: dict[str, str] = {}
    rulings: list[RulingOut] = []
    manifests: list[dict[str, Any]] = []
    verdict: VerdictOut | None

    @classmethod
    def of(cls, plan: Plan, field_of: FieldOf, by: User) -> "DryRunOut":
        out = cls.refused(plan.draft.name, _problems(plan), field_of)
        if plan.spec:
            whole = documents.masked(documents.dump(plan.spec))
            out.spec, out.master_spec = documents.to_wire(whole), documents.master_to_wire(whole)
            out.sources = {
                field: source
                for path, source in plan.origins.items()
                for field in _fields(path, plan)
            }
        out.rulings = [
            RulingOut.of(field, it)
            for path, it in plan.fields.items()
            for field in _fields(path, plan)
        ]
        out.manifests = _manifests(plan, by)
        out.warnings = [WarningOut.of(problem) for problem in plan.warnings]
        if plan.fit:
            out.verdict = VerdictOut.of(plan.fit, repairs.offered(plan, by))
        return out

    @classmethod
    def refused(cls, name: str, problems: Iterable[Problem], field_of: FieldOf) -> "DryRunOut":
        issues = [Issue(field=field_of(it), details=it.message, rule=it.rule) for it in problems]
        return cls(name=name, valid=not issues, compliance_issues=issues, verdict=None)


class BatchDryRunOut(Wire):
    """Each workload alone; ``complianceIssues`` are what is wrong with all of them together."""

    dry_run: bool = True
    valid: bool
    compliance_issues: list[Issue]
    workloads: list[DryRunOut]


def _fields(path: str, plan: Plan) -> Iterator[str]:
    """A dotted path of the plan as the field of the request that it is; of connections there are
    two."""
    head, _, rest = path.partition(".")
    root, inner = (ROOTS[head], rest) if head in ROOTS and rest else ("spec", path)
    places = [inner]
    if inner == CONNECTIONS:
        places = [URLS, PORTS]
    elif connection := CONNECTION.match(inner):
        key, number = published_at(plan.document[head], int(connection[1]))
        places = [f"{key}[{number}]{inner[connection.end() :]}"]
    yield from (f"{root}.{it}".replace("[", ".").replace("]", "") for it in places)


def _manifests(plan: Plan, by: User) -> list[dict[str, Any]]:
    """None while it cannot be submitted, or where the engine says what keeps it from rendering."""
    launch = planned_launch_of(plan, by)
    if launch is None or plan.cluster is None:
        return []
    # The submission itself would tell it, and of a cluster that is being removed.
    with suppress(EngineError, ObjectDoesNotExist):
        return manifests(plan.cluster, replace(launch, spec=shown_spec(launch.spec)))
    return []


def shown_spec(spec: WorkloadSpec) -> WorkloadSpec:
    """Without the values of variables that look secret, which answers never tell."""
    master = _masked_replica(spec.master) if spec.master else None
    return spec.model_copy(update={"worker": _masked_replica(spec.worker), "master": master})


def _masked_replica(replica: Replica) -> Replica:
    variables = tuple(
        it.model_copy(update={"value": MASK}) if it.value and looks_secret(it.name) else it
        for it in replica.environment_variables
    )
    return replica.model_copy(update={"environment_variables": variables})


def _problems(plan: Plan) -> tuple[Problem, ...]:
    try:
        plan.ready()
    except SpecError as error:
        return error.problems
    return ()
