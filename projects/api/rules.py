"""Scheduling rules of projects and departments, as Run:ai's REST objects have them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from pydantic import Field
from pydantic.alias_generators import to_camel

from core.rest import api
from core.rest.api import Issue, StrictBody, Wire, issues_of, refusal_error
from projects.rules import LIMIT_COLUMNS, SchedulingRules
from spec.part import Whole

#: The columns of node types by their names in a request.
NODE_TYPES = {"training": "training_node_types", "workspace": "workspace_node_types"}
SECONDS_COLUMNS = (*LIMIT_COLUMNS, "extension_seconds")


class SchedulingRulesBody(StrictBody):
    """Limits in seconds. A missing or null one is no rule. Idle limits are at least 300 and shorter
    than the time limit; those of a project cannot be longer than its department's."""

    interactive_job_time_limit_seconds: Whole | None = Field(
        default=None, description="How long workspaces may run"
    )
    training_job_time_limit_seconds: Whole | None = Field(
        default=None, description="How long trainings may run"
    )
    interactive_job_preempt_idle_duration_seconds: Whole | None = Field(
        default=None, description="How long the GPUs of preemptible workspaces may be idle"
    )
    interactive_job_max_idle_duration_seconds: Whole | None = Field(
        default=None, description="How long the GPUs of non-preemptible workspaces may be idle"
    )
    training_job_max_idle_duration_seconds: Whole | None = Field(
        default=None, description="How long the GPUs of trainings may be idle"
    )
    extension_seconds: Whole | None = Field(
        default=None,
        description="By how much owners may extend the limits of a workload, once; not Run:ai's",
    )

    @classmethod
    def of(cls, unit: SchedulingRules) -> "SchedulingRulesBody":
        values = {column: getattr(unit, column) for column in SECONDS_COLUMNS}
        return cls.model_construct(**values)


class NodeTypesBody(StrictBody):
    """The node types that workloads have to choose from: values of the label ``run.ai/type``. A
    missing or null list leaves the choice free."""

    training: list[str] | None = Field(default=None, description="For trainings")
    workspace: list[str] | None = Field(default=None, description="For workspaces")
    names: dict[str, str] | None = Field(
        default=None, description="Run:ai's; can only be null or empty"
    )

    @classmethod
    def of(cls, unit: SchedulingRules) -> "NodeTypesBody":
        return cls.model_construct(
            training=unit.training_node_types, workspace=unit.workspace_node_types, names=None
        )


class RulesOut(Wire):
    """The rules of a project or department itself."""

    scheduling_rules: SchedulingRulesBody = Field(
        description="Limits for workloads submitted from now on, in seconds; null for no rule"
    )
    node_types: NodeTypesBody = Field(
        description="The node types that workloads have to choose from; empty if they are free"
    )


class RulesChange(StrictBody):
    """Rules in a request. Each of the two objects replaces all of its rules."""

    scheduling_rules: SchedulingRulesBody | None = Field(
        default=None,
        description="Limits for workloads submitted from now on; replaces all that there are",
    )
    node_types: NodeTypesBody | None = Field(
        default=None,
        description="Node types that workloads have to choose from; replaces all that there are",
    )

    def rule_values(self) -> dict[str, Any]:
        """Return the rules in the request by column."""
        values: dict[str, Any] = {}
        if self.scheduling_rules:
            values = {column: getattr(self.scheduling_rules, column) for column in SECONDS_COLUMNS}
        if self.node_types:
            for name, column in NODE_TYPES.items():
                values[column] = getattr(self.node_types, name) or []
        return values

    def unsupported_rule_issues(self) -> list[Issue]:
        if self.node_types and self.node_types.names:
            return [Issue(field="nodeTypes.names", details="is not supported here; leave it out")]
        return []


#: The paths of rules and quotas in a request, by the names that the services' errors have.
WIRE_PATHS = {
    "poolQuotas": "resources",
    **{to_camel(column): f"schedulingRules.{to_camel(column)}" for column in SECONDS_COLUMNS},
    **{to_camel(column): f"nodeTypes.{name}" for name, column in NODE_TYPES.items()},
}


@contextmanager
def translate_errors(refusal: str) -> Iterator[None]:
    """Like the usual translation of exceptions, with the paths of rules and quotas in a request."""
    with api.translate_errors(refusal):
        try:
            yield
        except ValidationError as error:
            issues = [
                issue.model_copy(update={"field": WIRE_PATHS.get(issue.field, issue.field)})
                for issue in issues_of(error)
            ]
            raise refusal_error(refusal, issues) from error
