"""The spec of a workload as fields, as YAML, as a difference from its origin, and as a manifest."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engines.base import EngineError
from spec.formats import documents
from spec.formats.merge import parent_paths
from workloads import launch as launches
from workloads.models import Workload

CONTEXT_LINES = 3


@dataclass(frozen=True)
class Value:
    """One field of the spec: its path, its value as text, and where the value came from."""

    path: str
    text: str
    origin: str


@dataclass(frozen=True)
class Difference:
    """A unified diff from the workload or template ``name``. ``lines`` are pairs of type (added,
    removed, place or empty) and line."""

    name: str
    lines: list[tuple[str, str]]


def values(workload: Workload) -> list[Value]:
    """The fields that differ from their defaults, with their origin if it was recorded."""
    origins: dict[str, str] = workload.origins_json
    return [
        Value(path, text, _origin(origins, path)) for path, text in _flat(_document(workload), "")
    ]


def as_yaml(workload: Workload) -> str:
    """The spec as YAML, without defaults and with hidden values masked."""
    return documents.to_yaml(_document(workload))


def _document(workload: Workload) -> documents.Document:
    """The spec without defaults and with hidden values masked, for people to read."""
    document: documents.Document = documents.mask_secret_values(_brief(workload))
    return document


def _brief(workload: Workload) -> documents.Document:
    return documents.without_defaults(documents.order_keys(workload.spec_json))


def difference(workload: Workload) -> Difference | None:
    """The difference from the workload that it was copied from, else from its template; ``None``
    without either."""
    if parent := workload.copied_from:
        name = parent.name
        before = _brief(parent)
        after = _brief(workload)
    elif template := workload.template:
        name = template.name
        before = template.draft_json
        after = workload.draft_json
    else:
        return None
    diff = difflib.unified_diff(
        documents.to_yaml(documents.mask_secret_values(_bare(before))).splitlines(),
        documents.to_yaml(documents.mask_secret_values(_bare(after))).splitlines(),
        lineterm="",
        n=CONTEXT_LINES,
    )
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = [(kinds.get(line[:1], ""), line) for line in list(diff)[2:]]
    return Difference(name, lines)


def manifest(workload: Workload) -> str:
    """The manifest that the engine hands to the cluster, or the engine's error as a comment."""
    try:
        launch = launches.launch_without_secrets(workload)
    except EngineError as error:
        return f"# {error}"
    return launches.render_manifests_as_yaml(workload.cluster, launch)


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _flat(_named(item), f"{path}[{number}]")
    else:
        yield path, "yes" if value is True else "no" if value is False else str(value)


def _named(item: Any) -> Any:
    """A named value as text: ``{"name": "A", "value": "1"}`` becomes ``A = 1``."""
    if isinstance(item, dict) and item.keys() == {"name", "value"}:
        return f"{item['name']} = {item['value']}"
    return item


def _origin(origins: dict[str, str], path: str) -> str:
    """Origin of the field, or of what it is part of; empty if neither was recorded."""
    return next((origins[each] for each in (path, *parent_paths(path)) if each in origins), "")


def _bare(document: dict[str, Any]) -> dict[str, Any]:
    """The document without fields that differ between any two drafts."""
    return {
        key: value for key, value in document.items() if key not in {"name", "template", "rules"}
    }
