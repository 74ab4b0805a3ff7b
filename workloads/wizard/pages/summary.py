"""Summarize a plan for the wizard: whether it will start, and what it needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from math import inf
from typing import Any

from clusters.connections import runs_as
from clusters.models import Cluster
from engines.base import Handle
from projects.quotas import Demand, StrictQuota
from spec.cautions import cautions
from spec.formats import documents
from spec.formats.stored import as_mapping
from spec.problems.errors import SpecError
from spec.values.quantities import format_bytes
from spec.workload import Pod, WorkloadSpec
from workloads.history.causes import BarShare, bar_shares
from workloads.plan import UNSAVED, Plan
from workloads.scheduling.fit.judge import Answer, Fit
from workloads.scheduling.fit.repairs import Repair
from workloads.scheduling.fit.words import largest_in_words
from workloads.scheduling.quota import limiting_accounts
from workloads.wizard.locations import locate_problem
from workloads.wizard.pages.problems import is_verdict, problem_sentence

FEW = 8  # ranks that are all listed; of more, the first three and the last
PLACEHOLDER_IMAGE = "to-be-selected"
_ROLES = {"worker", "master"}
QUEUE_DECIDES = "The cluster's queue decides when it starts."
TEMPLATE_HEADLINE = "A template"
TEMPLATE_COMPLETE = "Its users only add a name."
ANSWERS = {
    Answer.NOW: ("success", "Starts immediately"),
    Answer.LATER: ("warning", "Will wait"),
    Answer.NEVER: ("danger", "Can never start"),
    Answer.UNKNOWN: ("neutral", "Ready to submit"),
}


@dataclass
class QuotaForecast:
    """One resource of a quota. ``used`` is the amount in use once this workload runs; ``total`` is
    ``None`` without a limit."""

    label: str
    used: float
    total: float | None
    text: str
    is_over: bool = False


@dataclass
class Summary:
    """The summary as its template reads it. ``tone`` is info, success, warning, danger or neutral.
    ``todo`` is what people can do about it, ``shares`` how many of the ``nodes`` are ruled out and
    why. ``as_of`` is set if the forecast uses resource counts of that time, not current ones.
    ``runs_as`` says what runs it on the cluster."""

    tone: str = "info"
    headline: str = "Not ready yet"
    detail: str = ""
    todo: str = ""
    shares: list[BarShare] = field(default_factory=list)
    nodes: int = 0
    as_of: datetime | None = None
    largest: str = ""
    repairs: list[Repair] = field(default_factory=list)
    pods: str = "–"
    runs_as: str = ""
    world_size: int = 0
    ranks: list[tuple[str, str]] = field(default_factory=list)
    meters: list[QuotaForecast] = field(default_factory=list)
    has_virtual_gpus: bool = False
    cautions: tuple[str, ...] = ()


def summarize(plan: Plan) -> Summary:
    """Build the summary of a plan."""
    summary = Summary()
    summary.has_virtual_gpus = bool(plan.cluster and plan.cluster.has_virtual_gpus)
    spec = plan.spec or _spec_with_any_image(plan.document)
    if spec:
        _describe_pods(summary, spec)
        summary.cautions = () if summary.has_virtual_gpus else cautions(spec)
    summary.cautions = (*dict.fromkeys(_warning_sentences(plan)), *summary.cautions)
    if spec and plan.project and plan.cluster:
        demand = Demand.from_spec(spec, gpu_memory=plan.cluster.gpu_memory)
        summary.meters = list(
            _meters(plan.cluster, limiting_accounts(plan.project, spec.first_pool), demand)
        )
        handle = Handle(UNSAVED, plan.draft.name, plan.project.name)
        summary.runs_as = runs_as(plan.cluster, handle, spec)
    _set_verdict(summary, plan)
    return summary


def _warning_sentences(plan: Plan) -> Iterator[str]:
    for warning in plan.warnings:
        yield problem_sentence(locate_problem(warning, plan.document), warning)


def _spec_with_any_image(document: dict[str, Any]) -> WorkloadSpec | None:
    """Return the spec with a placeholder as the image, because the numbers do not depend on the
    environment. ``None`` if the document has other problems."""
    if not document:
        return None
    roles: dict[str, Any] = {
        role: {"image": PLACEHOLDER_IMAGE, **document[role]} for role in document.keys() & _ROLES
    }
    if isinstance(named := document.get("roles"), list):
        roles = {"roles": [{"image": PLACEHOLDER_IMAGE, **as_mapping(role)} for role in named]}
    try:
        return documents.load_spec(document | roles)
    except SpecError:
        return None


def _describe_pods(summary: Summary, spec: WorkloadSpec) -> None:
    pods = spec.pods
    workers = f"{spec.num_workers} worker{'s' if spec.num_workers > 1 else ''}"
    summary.pods = f"{len(pods)} = 1 master + {workers}" if spec.has_master else workers
    if not spec.kind.is_gang:
        summary.pods = "1"
        return
    if spec.roles:
        summary.pods = f"{len(pods)} = " + " + ".join(f"{it.count} {it.name}" for it in spec.roles)
    summary.world_size = spec.world_size
    if len(pods) <= FEW:
        summary.ranks = [_rank_and_name(pod) for pod in pods]
    else:
        summary.ranks = [
            *map(_rank_and_name, pods[:3]),
            ("…", f"{len(pods) - 4} more"),
            _rank_and_name(pods[-1]),
        ]


def _rank_and_name(pod: Pod) -> tuple[str, str]:
    return str(pod.rank), pod.name


def _meters(cluster: Cluster, bounds: list[StrictQuota], demand: Demand) -> Iterator[QuotaForecast]:
    """Yield GPUs, CPU cores and memory, each with the quota that has the least of it left."""
    unit = "Virtual GPUs" if cluster.has_virtual_gpus else "GPUs"
    rows = (
        (unit, "gpus", _format_number),
        ("CPU cores", "cpu", _format_number),
        ("Memory", "memory", format_bytes),
    )
    for label, name, format_value in rows:
        tightest = min(bounds, key=partial(_remaining, name=name))
        after = getattr(tightest.usage + demand, name)
        quota = getattr(tightest.quota, name)
        requested = getattr(demand, name)
        owner = "" if tightest.kind == "project" else f"the {tightest.kind}'s "
        yield _meter(label, requested, after, quota, format_value, owner)


def _remaining(account: StrictQuota, name: str) -> float:
    quota: float | None = getattr(account.quota, name)
    return inf if quota is None else quota - getattr(account.usage, name)


def _meter(
    label: str,
    requested: float,
    after: float,
    quota: float | None,
    format_value: Callable[[float], str],
    owner: str,
) -> QuotaForecast:
    """Build the forecast of one resource. ``after`` is the usage with this workload; ``owner``
    says whose quota it is, and is empty for the project's."""
    if quota is None:
        return QuotaForecast(label, after, None, format_value(requested))
    is_over = after > quota + 1e-6
    if is_over:
        rest = f"{format_value(after - quota)} over {owner or 'the '}quota of"
    else:
        rest = f"leaves {format_value(quota - after)} of {owner}".rstrip()
    request = f"{format_value(requested)} ·"
    if is_over and not requested:
        request = "already"
    text = f"{request} {rest} {format_value(quota)}"
    return QuotaForecast(label, after, quota, text, is_over)


def _format_number(value: float) -> str:
    return f"{round(value, 3):g}"


def _set_verdict(summary: Summary, plan: Plan) -> None:
    if plan.draft.is_template:
        _set_template_verdict(summary, plan)
        return
    never = [problem.message for problem in plan.problems if is_verdict(problem)]
    if never:
        summary.tone = "danger"
        summary.headline = "Can never start"
        summary.detail = f"It {never[0]}."
    elif not plan.is_submittable:
        count = len(plan.problems)
        summary.detail = f"{count} thing{'s' if count != 1 else ''} to fill in or fix, see below."
        cause = plan.fit.cause if plan.fit and plan.fit.answer is Answer.NEVER else None
        if cause:
            summary.cautions = (f"{cause.title}. {cause.todo}", *summary.cautions)
    elif plan.fit is None:
        summary.headline = "Ready to submit"
        summary.detail = QUEUE_DECIDES
    else:
        tone, headline = ANSWERS[plan.fit.answer]
        summary.tone = tone
        summary.headline = headline
        _explain_fit(summary, plan.fit)
    if plan.fit and plan.cluster and plan.is_submittable and plan.cluster.capabilities.queues:
        summary.as_of = plan.cluster.counted_at
    if plan.fit and plan.spec and plan.fit.answer is not Answer.NOW:
        summary.largest = largest_in_words(plan.fit, plan.spec)


def _set_template_verdict(summary: Summary, plan: Plan) -> None:
    """Describe a template, which is not submitted itself. Its users fill in what it leaves open."""
    count = len(plan.problems)
    summary.headline = TEMPLATE_HEADLINE
    summary.detail = TEMPLATE_COMPLETE
    if count:
        summary.detail = f"{count} field{'s' if count != 1 else ''} left for its users."


def _explain_fit(summary: Summary, fit: Fit) -> None:
    summary.detail = fit.note or ("All ranks fit now." if summary.ranks else "Its pod fits now.")
    cause = fit.cause
    if cause:
        summary.detail = cause.title.rstrip(".") + "."
        summary.todo = cause.todo
        summary.shares = bar_shares(
            [(share.label, share.nodes) for share in cause.shares], cause.total
        )
        summary.nodes = cause.total
