"""A gang of named roles as policies see it: what holds for workers holds for each role."""

from collections.abc import Mapping
from typing import Any

from policies.document import with_value
from policies.fields import WORKER
from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.problems.errors import Path

ROLES = "roles"
NUM_WORKERS = "numWorkers"
FRAMEWORK = "distributedFramework"
NO_FRAMEWORK = "none"  # so that a list of allowed frameworks refuses it


def number_of_roles(document: Document) -> int:
    roles = document.get(ROLES)
    return len(roles) if isinstance(roles, list) else 0


def view_of_role(document: Document, number: int) -> Document:
    """Return the document as if the role described the workers. All pods but the one that leads
    count as workers."""
    whole = {key: value for key, value in document.items() if key != ROLES}
    roles = [as_mapping(role) for role in document[ROLES]]
    pods = sum(_count(role) for role in roles)
    return whole | {
        WORKER: roles[number],
        NUM_WORKERS: max(pods - 1, 1),
        FRAMEWORK: document.get(FRAMEWORK) or NO_FRAMEWORK,
    }


def _count(role: Mapping[str, Any]) -> int:
    count = role.get("count", 1)
    return count if isinstance(count, int) else 1


def with_role(document: Document, number: int, view: Document) -> Document:
    """Return the document with what was filled in a view of a role."""
    shown_otherwise = (WORKER, NUM_WORKERS, FRAMEWORK)
    whole = {key: value for key, value in view.items() if key not in shown_otherwise}
    filled: Document = with_value({**document, **whole}, f"{ROLES}.{number}", view[WORKER])
    return filled


def path_in_document(path: Path, number: int) -> Path:
    """Return the path of a problem in the view of a role."""
    if path[:1] == (WORKER,):
        return (ROLES, number, *path[1:])
    return (ROLES,) if path[:1] == (NUM_WORKERS,) else path


def origins_in_view(origins: Mapping[str, str], number: int) -> dict[str, str]:
    """Return where the values of a view came from, by their paths there."""
    role = f"{ROLES}[{number}]"
    return {
        f"{WORKER}{path.removeprefix(role)}" if path.startswith(role) else path: origin
        for path, origin in origins.items()
    }


def origins_in_document(origins: Mapping[str, str], number: int) -> dict[str, str]:
    """The inverse of :func:`origins_in_view`."""
    return {
        f"{ROLES}[{number}]{path.removeprefix(WORKER)}" if path.startswith(WORKER) else path: origin
        for path, origin in origins.items()
    }


def field_in_view(field: str, number: int) -> str:
    """Return the dotted path in a view of a field of the document."""
    role = f"{ROLES}.{number}."
    return f"{WORKER}.{field.removeprefix(role)}" if field.startswith(role) else field
