"""The inputs of the wizard: what each is called, where its value lives, which problems it shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from spec.draft import ReplicaDraft, WorkloadDraft
from spec.errors import Path, Problem

SETUP, WORKERS, MASTER = 1, 2, 3
PAGES = (SETUP, WORKERS, MASTER)


class Kind(StrEnum):
    CHOICE = "choice"  # one of a few, kept as an attribute of the draft
    TEXT = "text"
    WHOLE = "whole"
    DURATION = "duration"  # a number and a unit, kept as seconds
    ROWS = "rows"  # names with values


@dataclass(frozen=True)
class Field:
    """``key`` is the draft's wire name. ``role`` is ``worker``, ``master`` or empty.

    ``unit`` is the one to offer for a duration that is not given.
    """

    key: str
    label: str
    page: int
    kind: Kind
    role: str = ""
    hint: str = ""
    unit: str = "sec"

    @property
    def name(self) -> str:
        """Of the input, and its id; rows add ``-0-name`` and the like."""
        return f"{self.role}-{self.key}" if self.role else self.key

    @property
    def path(self) -> Path:
        return (self.role, self.key) if self.role else (self.key,)

    @property
    def dotted(self) -> str:
        """As a plan's origins call it."""
        return ".".join(str(step) for step in self.path)


def _replica(role: str, page: int) -> tuple[Field, ...]:
    return (
        Field("environment", "Environment", page, Kind.CHOICE, role),
        Field(
            "command",
            "Command",
            page,
            Kind.TEXT,
            role,
            "Replaces the image's entry point, for this workload only.",
        ),
        Field(
            "args",
            "Arguments",
            page,
            Kind.TEXT,
            role,
            "Several are separated by spaces, such as --epochs=3 --lr=0.1",
        ),
        Field("environmentVariables", "Environment variables", page, Kind.ROWS, role),
        Field("compute", "Compute resource", page, Kind.CHOICE, role),
        Field("labels", "Labels", page, Kind.ROWS, role),
        Field("annotations", "Annotations", page, Kind.ROWS, role),
    )


FIELDS = (
    Field("cluster", "Cluster", SETUP, Kind.CHOICE),
    Field("project", "Project", SETUP, Kind.CHOICE),
    Field("framework", "Framework", SETUP, Kind.CHOICE),
    Field("architecture", "Distributed training configuration", SETUP, Kind.CHOICE),
    Field("template", "Template", SETUP, Kind.CHOICE),
    Field(
        "name",
        "Name",
        SETUP,
        Kind.TEXT,
        hint="Lower-case letters, digits and hyphens; a letter first. Unique in the project.",
    ),
    *_replica("worker", WORKERS),
    Field("numWorkers", "Number of workers", WORKERS, Kind.WHOLE, hint="1 to 512. Empty is 1."),
    Field(
        "terminationGracePeriodSeconds",
        "Grace period",
        WORKERS,
        Kind.DURATION,
        hint="Time to reach a checkpoint before it is killed: 0 sec to 5 min. Empty is 30 sec.",
    ),
    Field(
        "backoffLimit",
        "Backoff limit",
        WORKERS,
        Kind.WHOLE,
        hint="Restarts before it counts as failed: 1 to 100. Empty is 6.",
    ),
    Field(
        "autoDeletionTimeAfterCompletionSeconds",
        "Timeframe for auto-deletion",
        WORKERS,
        Kind.DURATION,
        hint="After completion or failure; 0 deletes at once. Empty is 30 days.",
        unit="days",
    ),
    *_replica("master", MASTER),
)
BY_NAME = {field.name: field for field in FIELDS}
BY_PATH = {field.path: field for field in FIELDS}

#: Problems of the spec whose path is not where the wizard asks.
ELSEWHERE: dict[Path, str] = {("distributedFramework",): "framework"}


def on(page: int) -> Iterator[Field]:
    return (field for field in FIELDS if field.page == page)


def locate(problem: Problem) -> Field:
    """The field that shows a problem. What an asset brings in is the matter of its choice."""
    path = problem.path
    for length in range(len(path), 0, -1):
        if found := BY_PATH.get(path[:length]):
            return found
    if name := ELSEWHERE.get(path[:1]):
        return BY_NAME[name]
    return BY_NAME.get(f"{path[0] if path else ''}-environment", BY_NAME["name"])


def replica_of(draft: WorkloadDraft, role: str) -> ReplicaDraft | None:
    return draft.worker if role == "worker" else draft.master
