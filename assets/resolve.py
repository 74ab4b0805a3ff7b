"""From asset ids to pieces of a spec, by value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from accounts.models import User
from assets.models import ComputeResource, Environment
from projects.models import Project
from spec.draft import ReplicaDraft, Values
from spec.errors import Path, Problem

A = TypeVar("A", Environment, ComputeResource)

#: Lists whose items are merged by name: what the user gives wins over the asset's item.
ITEMIZED = ("environmentVariables", "labels", "annotations")
NOTHING: tuple[object, ...] = (None, "", [])
#: What of these is given wins over the same part of the asset's.
PARTWISE = ("compute", "security")
IDS = ("runAsUid", "runAsGid", "supplementalGroups")


@dataclass
class Resolved:
    """One replica as a document, where each value came from, and what is wrong with the choice."""

    document: Values = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    environment: Environment | None = None
    compute: ComputeResource | None = None

    def lay(self, values: Values, origin: str) -> None:
        """Put ``values`` over what is there, item by item where items have names."""
        for key, value in values.items():
            if key in ITEMIZED and isinstance(value, list):
                value = merge_items(self.document.get(key, []), value)
            elif key in PARTWISE and isinstance(value, dict):
                value = {**self.document.get(key, {}), **_filled(value)}
            self.document[key] = value
            self.origins[key] = origin


def merge_items(below: Iterable[Any], above: Iterable[Any]) -> list[Any]:
    """Items of both; of two with one name the one above stays, where the one below stood."""
    over = list(above)
    names = [_name(item) for item in over]
    merged: list[Any] = []
    for item in below:
        if _name(item) in names:
            at = names.index(_name(item))
            merged.append(over.pop(at))
            names.pop(at)
        else:
            merged.append(item)
    return merged + over


def _name(item: Any) -> Any:
    return item.get("name") if isinstance(item, dict) else None


def replica(draft: ReplicaDraft, *, project: Project, user: User, at: Path) -> Resolved:
    """Environment, then compute resource, then the user's own values; the later wins.

    ``at`` is where the replica stands in the draft (``("worker",)``), for the problems.
    """
    resolved = Resolved()
    if draft.environment:
        resolved.environment = _find(Environment, draft.environment, project, user)
        if resolved.environment:
            name = f"environment {resolved.environment.name}"
            resolved.lay(resolved.environment.spec_json, name)
        else:
            resolved.problems.append(_gone((*at, "environment"), "environment"))
    if draft.compute:
        resolved.compute = _find(ComputeResource, draft.compute, project, user)
        if resolved.compute:
            name = f"compute resource {resolved.compute.name}"
            resolved.lay({"compute": resolved.compute.spec_json}, name)
        else:
            resolved.problems.append(_gone((*at, "compute"), "compute resource"))
    resolved.lay(draft.given, "user")
    resolved.problems += _ids_of_its_own(resolved.environment, draft, at)
    return resolved


def _find(model: type[A], pk: UUID, project: Project, user: User) -> A | None:
    found: A | None = model.objects.visible_to(user).usable_in(project).filter(pk=pk).first()
    return found


def _ids_of_its_own(
    environment: Environment | None, draft: ReplicaDraft, at: Path
) -> Iterator[Problem]:
    if environment is None or environment.leaves_ids:
        return
    given = draft.given.get("security")
    security = given if isinstance(given, dict) else {}
    for key in IDS:
        if security.get(key) not in NOTHING:
            message = f"must be left to the environment {environment.name}; leave it empty"
            yield Problem((*at, "security", key), message)


def _filled(value: Values) -> Values:
    return {key: part for key, part in value.items() if part not in NOTHING}


def _gone(path: Path, kind: str) -> Problem:
    return Problem(path, f"this {kind} is no longer here, or not for this project; choose another")
