"""Answers of ``dryRun=true``: what would happen if the request was submitted."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Self, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from pydantic import Field

from accounts.models import User
from core.rest.api import Issue, Parameters, Wire, enum_schema
from engines.base import EngineError
from spec.formats import documents
from spec.formats.connections import PORTS, URLS, position_in_tools
from spec.kind import WorkloadKind
from spec.problems.errors import Problem, SpecError
from spec.problems.rulings import FieldRuling
from spec.values.variable import MASK, looks_secret
from spec.workload import Replica, WorkloadSpec
from workloads.api.spec_schemas import spec_schema
from workloads.api.warnings import WarningOut
from workloads.api.why import ShareOut
from workloads.api.words import AnyCause, MasterDocument
from workloads.launch import render_manifests
from workloads.plan import Plan
from workloads.scheduling.fit.judge import Fit
from workloads.scheduling.fit.repairs import Repair
from workloads.submission import launch_of_plan
from workloads.wizard import repairs

AnswerWord = Annotated[str, enum_schema("now", "later", "never", "unknown")]
FieldOf = Callable[[Problem], str]
ROOTS = {"worker": "spec", "master": "masterSpec"}
CONNECTIONS = "connections"
CONNECTION = re.compile(rf"{CONNECTIONS}\[(\d+)\]")


R = TypeVar("R", bound=Replica)


class DryRun(Parameters):
    """With ``dryRun=true`` nothing is submitted; the answer says what would happen."""

    dry_run: bool = Field(default=False, description="true checks the request and submits nothing")


class RepairOut(Wire):
    """A change of the workload, and the ``answer`` it would then get: ``workers=4``, ``shape=2x4``,
    ``pool=a100``, ``type=h100`` or ``compute=<id of a compute resource>``."""

    change: str = Field(
        description=(
            "The change in the wizard's notation: workers=4, shape=2x4, pool=a100, type=h100 or "
            "compute=ID"
        )
    )
    label: str = Field(description="The change, for people to read")
    answer: AnswerWord = Field(
        description="now, later or never, or unknown if the cluster's queue decides"
    )

    @classmethod
    def of(cls, repair: Repair) -> "RepairOut":
        return cls(change=repair.change, label=repair.label, answer=repair.answer)


class VerdictOut(Wire):
    """Whether the workload would start: ``now``, ``later``, ``never``, or ``unknown`` if the
    cluster's queue decides. ``kind``, ``title``, ``nextStep``, ``nodes`` and ``shares`` are as in
    ``cause`` of a waiting workload. ``largestWorkers`` is the number of workers that would start
    now, or null if unknown."""

    answer: AnswerWord = Field(
        description="now, later or never, or unknown if the cluster's queue decides"
    )
    kind: AnyCause = Field(description="What it is about, such as Capacity, Nodes, Quota or Image")
    title: str = Field(description="What it is, in a few words")
    next_step: str = Field(description="What to do about it")
    nodes: int = Field(description="How many nodes were looked at")
    shares: list[ShareOut] = Field(
        description="What rules nodes out, and how many of them, the most frequent reason first"
    )
    largest_workers: int | None = Field(
        description="How many workers would start now; null if that is not known"
    )
    repairs: list[RepairOut] = Field(
        description="Changes that would make the answer better; each was tried"
    )

    @classmethod
    def of(cls, fit: Fit, offered: Iterable[Repair]) -> "VerdictOut":
        cause = fit.cause
        shares = []
        if cause:
            shares = [ShareOut(reason=it.label, nodes=it.nodes) for it in cause.shares]
        return cls(
            answer=fit.answer,
            kind=cause.kind if cause else "",
            title=cause.title if cause else fit.note,
            next_step=cause.todo if cause else "",
            nodes=cause.total if cause else 0,
            shares=shares,
            largest_workers=fit.largest,
            repairs=[RepairOut.of(repair) for repair in offered],
        )


class RulingOut(Wire):
    """A template's rule for a field. A locked field keeps the template's value."""

    field: str = Field(description="The path of the field in the request")
    locked: bool = Field(description="Whether those who use the template cannot change the field")
    required: bool = Field(description="Whether it must be filled in")
    source: str = Field(description="The template that has the rule")
    why: str = Field(description="What the template says about it")

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
    """``valid``: the request would be accepted now. ``spec`` is the spec it would get, with values
    from assets and its project. It and ``verdict`` are null if the request is too incomplete.
    ``sources`` says by field where a value comes from: ``user``, ``environment pytorch``,
    ``template base``. A field that is missing there has the source of the field that contains it,
    or is a default. ``manifests`` are what the cluster would get."""

    dry_run: bool = Field(default=True, description="Always true")
    name: str = Field(description="The name")
    valid: bool = Field(description="Whether it would be accepted if it were submitted now")
    compliance_issues: list[Issue] = Field(description="Each field that is wrong")
    warnings: list[WarningOut] = Field(
        default=[],
        description=(
            "Parts of the request that have no effect on the cluster, need something that does not "
            "exist yet, or can be opened by more people than it seems"
        ),
    )
    spec: Annotated[dict[str, Any] | None, spec_schema(*WorkloadKind, null=True)] = Field(
        default=None,
        description=(
            "The spec that the workload would get, with every default; null if there is none yet"
        ),
    )
    master_spec: MasterDocument = Field(
        default=None,
        description="What differs for the master's pod; null if nothing differs from the workers",
    )
    sources: dict[str, str] = Field(
        default={}, description="Where the value of each field comes from"
    )
    rulings: list[RulingOut] = Field(default=[], description="The template's rules for fields")
    manifests: list[dict[str, Any]] = Field(
        default=[], description="The manifests that the cluster would get, without secret values"
    )
    verdict: VerdictOut | None = Field(
        description="Whether it would start; null if the request is too incomplete to say"
    )

    @classmethod
    def of(cls, plan: Plan, field_of: FieldOf, by: User) -> "DryRunOut":
        out = cls.refused(plan.draft.name, _problems_of_plan(plan), field_of)
        if plan.spec:
            document = documents.mask_secret_values(documents.dump_spec(plan.spec))
            out.spec = documents.to_wire(document)
            out.master_spec = documents.master_to_wire(document)
            out.sources = {
                field: source
                for path, source in plan.origins.items()
                for field in _request_fields(path, plan)
            }
        out.rulings = [
            RulingOut.of(field, it)
            for path, it in plan.rulings.items()
            for field in _request_fields(path, plan)
        ]
        out.manifests = _manifests_of_plan(plan, by)
        out.warnings = [WarningOut.of(problem) for problem in plan.warnings]
        if plan.fit:
            out.verdict = VerdictOut.of(plan.fit, repairs.offer_repairs(plan, by))
        return out

    @classmethod
    def refused(cls, name: str, problems: Iterable[Problem], field_of: FieldOf) -> "DryRunOut":
        issues = [
            Issue(field=field_of(it), details=it.message, rule=it.rule, source=it.source)
            for it in problems
        ]
        return cls(name=name, valid=not issues, compliance_issues=issues, verdict=None)


class BatchDryRunOut(Wire):
    """The result for each workload. ``complianceIssues`` are problems of all of them together."""

    dry_run: bool = Field(default=True, description="Always true")
    valid: bool = Field(description="Whether it would be accepted if it were submitted now")
    compliance_issues: list[Issue] = Field(description="Each field that is wrong")
    workloads: list[DryRunOut] = Field(description="What each workload would become")


def _request_fields(path: str, plan: Plan) -> Iterator[str]:
    """The request's fields for a dotted path of the plan. ``connections`` are split over two
    fields."""
    head, _, rest = path.partition(".")
    root, inner = (ROOTS[head], rest) if head in ROOTS and rest else ("spec", path)
    names = [inner]
    if inner == CONNECTIONS:
        names = [URLS, PORTS]
    elif connection := CONNECTION.match(inner):
        key, number = position_in_tools(plan.document[head], int(connection[1]))
        names = [f"{key}[{number}]{inner[connection.end() :]}"]
    yield from (f"{root}.{it}".replace("[", ".").replace("]", "") for it in names)


def _manifests_of_plan(plan: Plan, by: User) -> list[dict[str, Any]]:
    """Return the manifests of the plan; none if it cannot be submitted or the engine cannot render
    it."""
    launch = launch_of_plan(plan, by)
    if launch is None or plan.cluster is None:
        return []
    # A submission would report the error, or that its cluster is being removed.
    with suppress(EngineError, ObjectDoesNotExist):
        return render_manifests(plan.cluster, replace(launch, spec=mask_spec(launch.spec)))
    return []


def mask_spec(spec: WorkloadSpec) -> WorkloadSpec:
    """Return the spec without the values of variables that look secret: they are never part of an
    answer."""
    masked = {
        "worker": _mask_replica(spec.worker),
        "master": _mask_replica(spec.master) if spec.master else None,
        "roles": tuple(map(_mask_replica, spec.roles)),
    }
    return spec.model_copy(update=masked)


def _mask_replica(replica: R) -> R:
    variables = tuple(
        it.model_copy(update={"value": MASK}) if it.value and looks_secret(it.name) else it
        for it in replica.environment_variables
    )
    return replica.model_copy(update={"environment_variables": variables})


def _problems_of_plan(plan: Plan) -> tuple[Problem, ...]:
    try:
        plan.require_ready()
    except SpecError as error:
        return error.problems
    return ()
