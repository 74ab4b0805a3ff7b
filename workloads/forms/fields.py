"""The inputs of the wizard: what each is called, where its value lives, which problems it shows."""

from collections.abc import Iterator
from typing import Any

from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.errors import Path, Problem
from workloads.forms import nested
from workloads.forms import runtime_fields as runtime
from workloads.forms.kinds import MASTER, SETUP, WORKERS, Field, Kind
from workloads.forms.scheduling_fields import SIZE_FIELDS, WHOLE_FIELDS, replica_fields
from workloads.forms.storage_fields import storage_fields

PAGES = (SETUP, WORKERS, MASTER)
GENERAL = "general"


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
        Field("workingDir", "Working directory", page, Kind.TEXT, role),
        Field("environmentVariables", "Environment variables", page, Kind.ROWS, role),
        Field("compute", "Compute resource", page, Kind.CHOICE, role),
        *runtime.replica_fields(role, page),
        *storage_fields(role, page),
        *replica_fields(role, page),
        Field("labels", "Labels", page, Kind.ROWS, role, section=GENERAL),
        Field("annotations", "Annotations", page, Kind.ROWS, role, section=GENERAL),
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
    *SIZE_FIELDS,
    *WHOLE_FIELDS,
    *runtime.OF_THE_WHOLE,
    Field(
        "terminationGracePeriodSeconds",
        "Grace period",
        WORKERS,
        Kind.DURATION,
        hint="Time to reach a checkpoint before it is killed: 0 sec to 5 min. Empty is 30 sec.",
        section=GENERAL,
    ),
    Field(
        "backoffLimit",
        "Backoff limit",
        WORKERS,
        Kind.WHOLE,
        hint="Restarts before it counts as failed: 1 to 100. Empty is 6.",
        section=GENERAL,
    ),
    Field(
        "autoDeletionTimeAfterCompletionSeconds",
        "Timeframe for auto-deletion",
        WORKERS,
        Kind.DURATION,
        hint="After completion or failure; 0 deletes at once. Empty is 30 days.",
        unit="days",
        section=GENERAL,
    ),
    *_replica("master", MASTER),
)
BY_NAME = {field.name: field for field in FIELDS}

#: Problems of the spec whose path is not where the wizard asks.
ELSEWHERE: dict[Path, str] = {("distributedFramework",): "framework"}


def on(page: int) -> Iterator[Field]:
    return (field for field in FIELDS if field.page == page)


def locate(problem: Problem, document: Values | None = None) -> Field:
    """The field that shows a problem. What an asset brings in is the matter of its choice.

    ``document`` is the plan's: of several fields over one list it tells whose the item is.
    """
    path = problem.path
    for length in range(len(path), 0, -1):
        if found := [field for field in FIELDS if field.path == path[:length]]:
            item = _at(document or {}, path[: length + 1])
            return next((field for field in found if field.holds(item)), found[0])
    if name := ELSEWHERE.get(path[:1]):
        return BY_NAME[name]
    parts = (field for field in FIELDS if path and field.path[: len(path)] == path)
    return next(parts, BY_NAME.get(f"{path[0] if path else ''}-environment", BY_NAME["name"]))


def _at(document: Values, path: Path) -> Any:
    found: Any = document
    for step in path:
        if isinstance(found, list) and isinstance(step, int) and step < len(found):
            found = found[step]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def replica_of(draft: WorkloadDraft, role: str) -> ReplicaDraft | None:
    return draft.worker if role == "worker" else draft.master


def values_of(draft: WorkloadDraft, field: Field) -> Values | None:
    """Where the field's value lives; ``None`` for a master that inherits."""
    if not field.role:
        return draft.values
    replica = replica_of(draft, field.role)
    return replica.values if replica else None


def value_of(values: Values, field: Field) -> Any:
    """What the draft holds for a field; of a list the items that are the field's."""
    if field.kind is not Kind.ITEMS:
        return nested.get(values, field.key)
    return [item for item in nested.items(values, field.key) if field.holds(item)]
