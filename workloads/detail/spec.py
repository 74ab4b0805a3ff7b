"""Show the spec of a workload as fields, as YAML, as a difference from its origin, and as a
manifest."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from assets.names import names_for
from engines.base import EngineError
from spec.formats import documents, draft_yaml
from spec.formats.merge import parent_paths
from workloads import launch as launches
from workloads import services
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
    """A unified diff from the workload or template ``name``. ``lines`` are pairs of type and line;
    the type is added, removed, place (a line with ``@@``) or empty."""

    name: str
    lines: list[tuple[str, str]]


def field_values(workload: Workload) -> list[Value]:
    """Return the fields that differ from their defaults, with their origin if it was recorded."""
    origins: dict[str, str] = workload.origins_json
    return [
        Value(path, text, _field_origin(origins, path))
        for path, text in _flatten(_masked_document(workload), "")
    ]


def to_yaml(workload: Workload, reader: User) -> str:
    """Return the YAML that *From YAML* takes to submit the workload once more, with the names of
    assets that the reader sees, and with hidden values masked."""
    return draft_yaml.write_draft_yaml(services.content_to_copy(workload), names_for(reader))


def _masked_document(workload: Workload) -> documents.Document:
    """The spec without defaults and with hidden values masked, for people to read."""
    document: documents.Document = documents.mask_secret_values(_without_defaults(workload))
    return document


def _without_defaults(workload: Workload) -> documents.Document:
    return documents.without_defaults(documents.order_keys(workload.spec_json))


def difference(workload: Workload) -> Difference | None:
    """Return the difference from the workload that this one was copied from, else from its
    template; ``None`` without either."""
    if workload.copied_from:
        name = workload.copied_from.name
        before = _without_defaults(workload.copied_from)
        after = _without_defaults(workload)
    elif workload.template:
        name = workload.template.name
        before = workload.template.draft_json
        after = workload.draft_json
    else:
        return None
    diff = difflib.unified_diff(
        _comparable_lines(before), _comparable_lines(after), lineterm="", n=CONTEXT_LINES
    )
    kinds = {"+": "added", "-": "removed", "@": "place"}
    without_file_names = list(diff)[2:]
    return Difference(name, [(kinds.get(line[:1], ""), line) for line in without_file_names])


def render_manifest(workload: Workload) -> str:
    """Return the manifest that the engine hands to the cluster, or the engine's error as a
    comment."""
    try:
        launch = launches.launch_without_secrets(workload)
    except EngineError as error:
        return f"# {error}"
    return launches.render_manifests_as_yaml(workload.cluster, launch)


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flatten(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _flatten(_as_assignment(item), f"{path}[{number}]")
    else:
        yield path, _value_text(value)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _as_assignment(item: Any) -> Any:
    """Turn a named value into text: ``{"name": "A", "value": "1"}`` becomes ``A = 1``."""
    if isinstance(item, dict) and item.keys() == {"name", "value"}:
        return f"{item['name']} = {item['value']}"
    return item


def _field_origin(origins: dict[str, str], path: str) -> str:
    """Return the origin of the field, or of the nearest field that contains it. The text is empty
    if none was recorded."""
    for recorded_path in (path, *parent_paths(path)):
        if recorded_path in origins:
            return origins[recorded_path]
    return ""


def _comparable_lines(document: dict[str, Any]) -> list[str]:
    """Return the lines of the document as YAML, without fields that differ between any two
    drafts, and with hidden values masked."""
    comparable = {
        key: value for key, value in document.items() if key not in {"name", "template", "rules"}
    }
    return documents.to_yaml(documents.mask_secret_values(comparable)).splitlines()
