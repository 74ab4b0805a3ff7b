"""Choices of the workload models' fields, as functions (see ``core.database.choices``)."""

from typing import Literal, get_args

from django.db import models

from core.database.choices import Choices, values_of
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import CauseKind
from spec.workload import Architecture

STANDARD = "standard"  # the architecture of a workload of one pod
NAMED_ROLES = "roles"  # that of a gang with other roles than a master and workers


class Source(models.TextChoices):
    FORM = "form", "Form"
    API = "api", "API"
    CLI = "cli", "CLI"
    WORKFLOW = "workflow", "Workflow"


#: Where an event without an actor comes from.
EventSource = Literal["trainyard", "engine", "cluster", "training"]
EVENT_SOURCES: tuple[str, ...] = get_args(EventSource)


def sources() -> Choices:
    return Source.choices


def phases() -> Choices:
    return values_of(Phase)


def rank_phases() -> Choices:
    return values_of(RankPhase)


def reasons() -> Choices:
    return values_of(Reason)


def cause_kinds() -> Choices:
    return values_of(CauseKind)


def frameworks() -> Choices:
    return [(framework.value, framework.label) for framework in Framework]


def architectures() -> Choices:
    shapes = [(architecture.value, architecture.label) for architecture in Architecture]
    return [*shapes, (NAMED_ROLES, "Named roles"), (STANDARD, "Standard")]


def kinds() -> Choices:
    return [(kind.value, kind.label) for kind in WorkloadKind]
