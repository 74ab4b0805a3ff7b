"""Section: time limits, restarts, deletion, labels and annotations."""

from collections.abc import Iterable, Iterator

from core.forms.durations import split_duration
from core.forms.field import Cell, Input
from projects.models import Project
from projects.rules import idle_limit_of, time_limit_of
from spec.parts.labels import Annotation
from spec.workload import WorkloadSpec
from workloads.plan import Plan
from workloads.wizard.sections.base import (
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
    reviewed_spec,
)

NAME_AND_VALUE = (Cell("name", "Name"), Cell("value", "Value"))


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    replica = reviewed_replica(plan, role)
    spec = reviewed_spec(plan)
    for key in ("labels", "annotations"):
        if items := getattr(replica, key):
            yield key.title(), _pairs(items), ""
    if role == "master":
        return
    for label, marks in (
        ("Labels of the job", spec.job_labels),
        ("Annotations of the job", spec.job_annotations),
    ):
        if marks:
            yield label, _pairs(marks), ""
    yield "Grace period", _duration_text(spec.termination_grace_period_seconds), ""
    if spec.time_limit_seconds is not None:
        yield "Time limit", _duration_text(spec.time_limit_seconds), ""
    if spec.idle_limit_seconds is not None:
        yield "Idle limit", _duration_text(spec.idle_limit_seconds), ""
    if plan.project:
        yield from _rule_lines(plan.project, spec)
    yield "Backoff limit", str(spec.backoff_limit), "backoffLimit"
    yield (
        "Auto-deletion after",
        _duration_text(spec.auto_deletion_time_after_completion_seconds),
        "",
    )


def _rule_lines(project: Project, spec: WorkloadSpec) -> Iterator[ReviewLine]:
    """Yield the limits that the workload will have from scheduling rules."""
    kind = spec.kind.traits
    if time_limit := time_limit_of(project, kind):
        yield "Time limit by rule", str(time_limit), ""
    if idle_limit := idle_limit_of(project, kind, spec.preemptibility):
        yield "Idle GPU limit by rule", str(idle_limit), ""


def _pairs(items: Iterable[Annotation]) -> str:
    return ", ".join(f"{item.name}={item.value}" for item in items)


def _duration_text(seconds: int) -> str:
    return " ".join(split_duration(seconds))


GENERAL = Section(
    "general",
    "General settings",
    template="workloads/wizard/_general.html",
    replica=(
        Question("annotations", "Annotations", Input.ROWS, cells=NAME_AND_VALUE),
        Question("labels", "Labels", Input.ROWS, cells=NAME_AND_VALUE),
    ),
    once=(
        Question(
            "timeLimitSeconds",
            "Time limit",
            Input.DURATION,
            hint="Total running time, 1 sec to 365 days; waiting does not count. After that it is "
            "stopped and counts as failed. Default: no limit.",
            unit="hours",
            placeholder="no limit",
        ),
        Question(
            "idleLimitSeconds",
            "Idle limit",
            Input.DURATION,
            hint="Stopped after this long without use, 5 min to 365 days; it can run again. "
            "Default: no limit.",
            unit="hours",
            placeholder="no limit",
        ),
        Question(
            "terminationGracePeriodSeconds",
            "Grace period",
            Input.DURATION,
            hint="Time to save a checkpoint before it is killed: 0 sec to 5 min. Default: 30 sec.",
            placeholder="30",
        ),
        Question(
            "backoffLimit",
            "Backoff limit",
            Input.WHOLE,
            hint="Restarts before the workload fails: 0 to 100. Default: 6.",
            placeholder="6",
        ),
        Question(
            "autoDeletionTimeAfterCompletionSeconds",
            "Timeframe for auto-deletion",
            Input.DURATION,
            hint="After completion or failure; 0 deletes immediately. Logs are kept longer. "
            "Default: 30 days.",
            unit="days",
            placeholder="30",
        ),
        Question(
            "jobAnnotations",
            "Annotations of the job",
            Input.ROWS,
            cells=NAME_AND_VALUE,
            add="ANNOTATION OF THE JOB",
            only_if_supported=True,
        ),
        Question(
            "jobLabels",
            "Labels of the job",
            Input.ROWS,
            cells=NAME_AND_VALUE,
            add="LABEL OF THE JOB",
            only_if_supported=True,
        ),
    ),
    review=review,
)
