"""Specs as documents: the JSON of the database, the YAML people read, Run:ai's request body."""

from typing import Any

import yaml
from pydantic import ValidationError

from spec.errors import SpecError, problems
from spec.part import Part
from spec.published import PORTS, URLS, connected, published
from spec.workload import Replica, WorkloadSpec

Document = dict[str, Any]

REPLICA_FIELDS = frozenset(field.alias or name for name, field in Replica.model_fields.items())


def dump(part: Part) -> Document:
    """camelCase JSON without what was left at its default, so that documents stay readable."""
    return part.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)


def load(document: Document) -> WorkloadSpec:
    """The spec of a document of :func:`dump`; ``SpecError`` names every bad field."""
    try:
        return WorkloadSpec.model_validate(document)
    except ValidationError as error:
        raise SpecError(problems(error)) from error


def to_yaml(document: Document) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def from_wire(spec: Document, *, no_master: bool, master: Document | None) -> Document:
    """Run:ai's flat ``spec`` (worker and workload fields side by side) in our nested shape."""
    own = REPLICA_FIELDS | {URLS, PORTS}
    worker = connected({key: value for key, value in spec.items() if key in own})
    whole = {key: value for key, value in spec.items() if key not in own}
    whole["architecture"] = "workers_only" if no_master else "workers_and_master"
    return whole | {"worker": worker} | ({} if master is None else {"master": connected(master)})


def to_wire(document: Document) -> Document:
    """The inverse of :func:`from_wire`, without the master."""
    whole = {k: v for k, v in document.items() if k not in {"worker", "master", "architecture"}}
    return {**whole, **published(document.get("worker", {}))}


def master_to_wire(document: Document) -> Document | None:
    return published(document["master"]) if "master" in document else None
