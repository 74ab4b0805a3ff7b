"""What a submission would meet, without submitting: ``dryRun=true``."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from accounts.models import User
from core.rest.api import Issue, Parameters, Wire, words
from spec.formats import documents
from spec.kind import WorkloadKind
from spec.problems.errors import Problem, SpecError
from workloads.api.reads.why import ShareOut
from workloads.api.spec_schemas import spec_of
from workloads.api.warnings import WarningOut
from workloads.api.words import AnyCause
from workloads.plan import Plan
from workloads.scheduling.fit.judge import Fit
from workloads.scheduling.fit.repairs import Repair
from workloads.wizard import repairs

AnswerWord = Annotated[str, words("now", "later", "never", "unknown")]
FieldOf = Callable[[Problem], str]


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


class DryRunOut(Wire):
    """``valid``: submitted now, it would be accepted. ``spec`` is the one that it would get, with
    what assets and its project give. It and ``verdict`` are null if the request is too incomplete
    for them."""

    dry_run: bool = True
    name: str
    valid: bool
    compliance_issues: list[Issue]
    warnings: list[WarningOut] = []
    spec: Annotated[dict[str, Any] | None, spec_of(*WorkloadKind, null=True)] = None
    verdict: VerdictOut | None

    @classmethod
    def of(cls, plan: Plan, field_of: FieldOf, by: User) -> "DryRunOut":
        out = cls.refused(plan.draft.name, _problems(plan), field_of)
        if plan.spec:
            out.spec = documents.to_wire(documents.masked(documents.dump(plan.spec)))
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


def _problems(plan: Plan) -> tuple[Problem, ...]:
    try:
        plan.ready()
    except SpecError as error:
        return error.problems
    return ()
