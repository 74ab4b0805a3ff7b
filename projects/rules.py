"""Scheduling rules of departments and projects: how long workloads may run, how long they may leave
their GPUs idle, and on which types of nodes they run.

A project inherits the rules of its department, and its own can only be stricter.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from clusters.models import Cluster
from clusters.withheld import why_withheld
from core.words import name_first_three
from spec.kind import KindTraits
from spec.parts.scheduling import Preemptibility
from spec.problems.time_limit import format_duration
from spec.values.patterns import LABEL_VALUE, RULES
from spec.workload import MAX_TIME_LIMIT_SECONDS, MIN_IDLE_SECONDS

if TYPE_CHECKING:
    from projects.models import Department, Project

MAX_NODE_TYPES = 32
MAX_NODE_TYPE_LENGTH = 63


def _seconds_field(label: str, shortest: int = 1) -> "models.PositiveIntegerField[Any, Any]":
    limits = [MinValueValidator(shortest), MaxValueValidator(MAX_TIME_LIMIT_SECONDS)]
    return models.PositiveIntegerField(label, null=True, blank=True, validators=limits)


class SchedulingRules(models.Model):
    """The columns of the scheduling rules of a department or project. Without a value there is no
    such rule. Times are in seconds; their names are those of Run:ai's REST API.

    The owner of a workload may extend its limits once, by ``extension_seconds``.
    """

    interactive_job_time_limit_seconds = _seconds_field("Time limit of workspaces")
    training_job_time_limit_seconds = _seconds_field("Time limit of trainings")
    interactive_job_preempt_idle_duration_seconds = _seconds_field(
        "Idle GPU limit of preemptible workspaces", MIN_IDLE_SECONDS
    )
    interactive_job_max_idle_duration_seconds = _seconds_field(
        "Idle GPU limit of non-preemptible workspaces", MIN_IDLE_SECONDS
    )
    training_job_max_idle_duration_seconds = _seconds_field(
        "Idle GPU limit of trainings", MIN_IDLE_SECONDS
    )
    extension_seconds = _seconds_field("Extension")
    workspace_node_types = models.JSONField("Node types of workspaces", default=list, blank=True)
    training_node_types = models.JSONField("Node types of trainings", default=list, blank=True)

    class Meta:
        abstract = True


#: The idle limits and the time limit that each must be shorter than.
TIME_LIMITS = {
    "interactive_job_preempt_idle_duration_seconds": "interactive_job_time_limit_seconds",
    "interactive_job_max_idle_duration_seconds": "interactive_job_time_limit_seconds",
    "training_job_max_idle_duration_seconds": "training_job_time_limit_seconds",
}
LIMIT_COLUMNS = (
    "interactive_job_time_limit_seconds",
    "training_job_time_limit_seconds",
    *TIME_LIMITS,
)
NODE_TYPE_COLUMNS = ("workspace_node_types", "training_node_types")
RULE_COLUMNS = (*LIMIT_COLUMNS, "extension_seconds", *NODE_TYPE_COLUMNS)


@dataclass(frozen=True)
class LimitRule:
    """A limit from a rule, in seconds. ``extended_seconds`` is the limit that the owner of a
    workload may extend it to; without an extension it is the same. ``source`` says whose rule it
    is: ``department research``."""

    seconds: int
    extended_seconds: int
    source: str

    def __str__(self) -> str:
        return f"{format_duration(self.seconds)} ({self.source})"


@dataclass(frozen=True)
class NodeTypeRule:
    """The types of nodes that workloads have to choose from, and whose rule that is."""

    types: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return f"{', '.join(self.types)} ({self.source})"


def time_limit_of(project: "Project", kind: KindTraits) -> LimitRule | None:
    """Return the time limit for workloads of a kind; ``None`` without a rule."""
    return strictest_limit(project, f"{_word_of(kind)}_job_time_limit_seconds")


def idle_limit_of(
    project: "Project", kind: KindTraits, preemptibility: Preemptibility | None
) -> LimitRule | None:
    """Return the idle GPU limit for workloads of a kind; ``None`` without a rule."""
    is_preemptible = preemptibility is not Preemptibility.NON_PREEMPTIBLE
    if is_preemptible and not kind.completes:
        return strictest_limit(project, "interactive_job_preempt_idle_duration_seconds")
    return strictest_limit(project, f"{_word_of(kind)}_job_max_idle_duration_seconds")


def strictest_limit(owner: "Department | Project", column: str) -> LimitRule | None:
    """Return the limit of a department, or the shorter one of a project and its department;
    ``None`` if there is no such rule."""
    limits = []
    for source, unit in _units(owner):
        seconds = getattr(unit, column)
        if seconds is not None:
            extended_seconds = seconds + (unit.extension_seconds or 0)
            limits.append(LimitRule(seconds, extended_seconds, source))
    if not limits:
        return None
    strictest = min(limits, key=lambda limit: limit.seconds)
    return replace(strictest, extended_seconds=min(limit.extended_seconds for limit in limits))


def node_types_of(project: "Project", kind: KindTraits) -> NodeTypeRule | None:
    """Return the node types for workloads of a kind; ``None`` without a rule."""
    column = "training_node_types" if kind.completes else "workspace_node_types"
    return allowed_node_types(project, column)


def allowed_node_types(owner: "Department | Project", column: str) -> NodeTypeRule | None:
    """Return the node types of a department, or those of a project that its department allows. If
    that leaves none, those of the department hold."""
    rule: NodeTypeRule | None = None
    for source, unit in _units(owner):
        types = tuple(getattr(unit, column))
        allowed = tuple(it for it in types if rule is None or it in rule.types)
        if allowed:
            rule = NodeTypeRule(allowed, source)
    return rule


def rule_facts(owner: "Department | Project") -> list[tuple[str, str]]:
    """Return the label and the value of each rule that holds in a department or project."""
    facts: list[tuple[str, str]] = []
    for column in LIMIT_COLUMNS:
        limit = strictest_limit(owner, column)
        if limit and limit.extended_seconds > limit.seconds:
            longest = format_duration(limit.extended_seconds)
            facts.append(
                (_label(owner, column), f"{limit}, owners can extend it once to {longest}")
            )
        elif limit:
            facts.append((_label(owner, column), str(limit)))
    for column in NODE_TYPE_COLUMNS:
        if node_types := allowed_node_types(owner, column):
            facts.append((_label(owner, column), str(node_types)))
    return facts


def _label(owner: "Department | Project", column: str) -> str:
    fields = owner._meta.concrete_fields
    return str(next(field.verbose_name for field in fields if field.name == column))


def _units(owner: "Department | Project") -> "Iterator[tuple[str, Department | Project]]":
    """Yield a department, or a project's department and the project, each with its name in
    words."""
    department = getattr(owner, "department", owner)
    yield f"department {department.name}", department
    if owner is not department:
        yield f"project {owner.name}", owner


def _word_of(kind: KindTraits) -> str:
    """Return Run:ai's word for a kind in the names of rules."""
    return "training" if kind.completes else "interactive"


def set_rules(unit: SchedulingRules, rules: Mapping[str, Any]) -> None:
    """Set the given rules of a department or project, by column, without saving."""
    for column in RULE_COLUMNS:
        if column in rules:
            value = rules[column]
            setattr(unit, column, list(value) if column in NODE_TYPE_COLUMNS else value)


def check_rules(
    unit: SchedulingRules, cluster: Cluster, department: "Department | None" = None
) -> None:
    """Check the rules of a department, or of a project of this ``department``. ``ValidationError``
    names the wrong columns."""
    problems = dict(_rule_problems(unit, cluster, department))
    if problems:
        raise ValidationError(problems)


def _rule_problems(
    unit: SchedulingRules, cluster: Cluster, department: "Department | None"
) -> Iterator[tuple[str, str]]:
    for column in NODE_TYPE_COLUMNS:
        text = _node_type_problem(getattr(unit, column), cluster)
        if text:
            yield column, text
        elif department:
            allowed = getattr(department, column)
            others = [it for it in getattr(unit, column) if allowed and it not in allowed]
            if others:
                yield (
                    column,
                    f"The department {department} allows {name_first_three(allowed)}, "
                    f"not {name_first_three(others)}.",
                )
    for column, time_limit_column in TIME_LIMITS.items():
        idle_limit = getattr(unit, column)
        time_limit = _effective_limit(unit, time_limit_column, department)
        if idle_limit is not None and time_limit is not None and idle_limit >= time_limit:
            yield column, f"Must be shorter than the time limit, {format_duration(time_limit)}."
    for column in LIMIT_COLUMNS if department else ():
        limit = getattr(unit, column)
        longest = getattr(department, column)
        if limit is not None and longest is not None and limit > longest:
            yield (
                column,
                f"The department {department} allows at most {format_duration(longest)}; "
                "a project can only be stricter.",
            )


def _effective_limit(
    unit: SchedulingRules, column: str, department: "Department | None"
) -> int | None:
    limits = (getattr(unit, column), getattr(department, column) if department else None)
    return min((limit for limit in limits if limit is not None), default=None)


def _node_type_problem(types: Any, cluster: Cluster) -> str:
    if not types:
        return ""
    if reason := why_withheld(cluster, "nodeType"):
        return f"{cluster} cannot have this rule: {reason}."
    if len(types) > MAX_NODE_TYPES:
        return f"The list can have at most {MAX_NODE_TYPES} node types."
    if len(set(types)) < len(types):
        return "Each node type can be in the list once."
    for name in types:
        if len(name) > MAX_NODE_TYPE_LENGTH:
            return f"A node type has at most {MAX_NODE_TYPE_LENGTH} characters."
        if not re.match(LABEL_VALUE, name):
            return f"{name!r} {RULES[LABEL_VALUE]}."
    return ""
