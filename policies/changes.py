"""Change the tree of a policy in part: merge values into it, or remove fields from it."""

from typing import Any

from policies.fields import MASTER, WORKER, ruled_fields
from policies.tree import DEFAULTS, RULES
from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.kind import WorkloadKind


def merge_trees(tree: Any, changes: Any) -> Any:
    """Return a tree with changes merged into it, object by object. Lists are replaced. What is
    ``None`` counts as left out, because clients send null for that."""
    if not isinstance(changes, dict):
        return changes
    merged = dict(as_mapping(tree))
    for key, value in changes.items():
        if value is not None:
            merged[key] = merge_trees(merged.get(key), value)
    return merged


def remove_field(tree: Document, name: str, kind: WorkloadKind) -> Document:
    """Return a tree without the default and the rules of a field, or of all fields below a path
    such as ``worker.compute``. ``ValueError`` says what is wrong with ``name``."""
    path = name.removeprefix("$.").split(".")
    role = WORKER
    field = path
    if kind.is_gang:
        role, *field = path
        if role not in (WORKER, MASTER):
            raise ValueError(f"must begin with {WORKER} or {MASTER}")
    place = ".".join(field)
    if not any(
        place == known or place.startswith(f"{known}.") or known.startswith(f"{place}.")
        for known in ruled_fields(kind, role)
    ):
        raise ValueError("is not the path of a field, or of several, such as compute")
    changed = dict(tree)
    for section in (DEFAULTS, RULES):
        if section in changed:
            changed[section] = _without(changed[section], path)
    return changed


def _without(part: Any, path: list[str]) -> Any:
    head, *rest = path
    if not isinstance(part, dict) or head not in part:
        return part
    others = {key: value for key, value in part.items() if key != head}
    return {**others, head: _without(part[head], rest)} if rest else others
