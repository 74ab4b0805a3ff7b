"""Specs as documents: JSON in the database, YAML for people, Run:ai's request body.

Documents are stored and returned in full, defaults included: a changed default does not change
existing workloads, and clients get back their own values. Only what people read is :func:`brief`.
"""

from functools import cache
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from spec.formats.connections import PORTS, URLS, connections_to_tools, tools_to_connections
from spec.formats.stored import as_mapping
from spec.framework import Framework, framework_with
from spec.kind import WorkloadKind
from spec.part import Part
from spec.problems.errors import SpecError, problems_in
from spec.values.variable import MASK, looks_secret
from spec.workload import ROLES_SHAPE, USUAL_SHAPE, Replica, WorkloadSpec

Document = dict[str, Any]
VARIABLES = "environmentVariables"
ODD_BREAKS = frozenset("\x85\u2028\u2029")

REPLICA_FIELDS = frozenset(field.alias or name for name, field in Replica.model_fields.items())
WORKLOAD_FIELDS = frozenset(
    field.alias or name for name, field in WorkloadSpec.model_fields.items()
)
#: What describes a master and workers, and what only named roles have.
USUAL_FIELDS = frozenset(map(to_camel, USUAL_SHAPE))
ROLES_FIELDS = frozenset(map(to_camel, ROLES_SHAPE))
HEAD_KEYS = frozenset(
    {"kind", "worker", "master", "architecture"}
)  # keys that a request has elsewhere


def dump_spec(part: Part) -> Document:
    """The spec as camelCase JSON with all values, including defaults, except fields that only
    another framework, kind or shape of gang has."""
    document: Document = part.model_dump(mode="json", by_alias=True)
    if isinstance(part, WorkloadSpec):
        own = _fields_of(part.kind, part.distributed_framework, has_roles=bool(part.roles))
        return {key: value for key, value in document.items() if key in own}
    return document


@cache
def _fields_of(
    kind: WorkloadKind, framework: Framework | None, *, has_roles: bool
) -> frozenset[str]:
    """The fields that a workload of this kind and framework has."""
    traits = kind.traits
    frameworks = {None, framework}
    return frozenset(
        key
        for key in WORKLOAD_FIELDS - _foreign_shape(has_roles=has_roles)
        if traits.may_have(key) and (key in traits.shares or framework_with(key) in frameworks)
    )


def _foreign_shape(*, has_roles: bool) -> frozenset[str]:
    """The fields of the other shape of a gang: of master and workers, or of named roles."""
    return USUAL_FIELDS if has_roles else ROLES_FIELDS


def order_keys(document: Document, model: type[BaseModel] = WorkloadSpec) -> Document:
    """Sort the keys of a stored document like the fields of ``model``, because PostgreSQL does not
    keep their order. Unknown keys come last."""
    fields = inner_models(model)
    in_order = {
        key: _order_inner(value, inner) if inner and (value := document[key]) else document[key]
        for key, inner in fields.items()
        if key in document
    }
    return in_order | {key: value for key, value in document.items() if key not in in_order}


def order_draft_keys(draft: Any) -> Document:
    """Sort the keys of a stored draft, which may contain anything."""
    whole: Document = _order_values(as_mapping(draft), WorkloadSpec)
    roles = {role: whole[role] for role in ("worker", "master") if role in whole}
    return whole | {role: _order_values(its, Replica) for role, its in roles.items()}


def _order_values(part: Any, model: type[BaseModel]) -> Any:
    """Sort a part of a draft; its ``values`` are fields of ``model``."""
    values = as_mapping(part).get("values")
    return part | {"values": order_keys(values, model)} if isinstance(values, dict) else part


def _order_inner(value: Any, model: type[BaseModel]) -> Any:
    if isinstance(value, dict):
        return order_keys(value, model)
    return [_order_inner(item, model) for item in value] if isinstance(value, list) else value


@cache
def inner_models(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """The models of a model's fields by wire name; ``None`` for plain values."""
    fields = model.model_fields.items()
    return {field.alias or name: model_in_annotation(field.annotation) for name, field in fields}


def without_defaults(document: Document, model: type[BaseModel] = WorkloadSpec) -> Document:
    """A document without default values, for people. It may be incomplete."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    kept: Document = {}
    for key, value in document.items():
        field = fields.get(key)
        if field is None:
            kept[key] = value
            continue
        inner = model_in_annotation(field.annotation)
        value = _drop_defaults(value, inner) if inner else value
        default = {} if isinstance(field.default, BaseModel) else field.default
        empty = default == () and value == []
        if value is not None and (field.is_required() or not (empty or value == default)):
            kept[key] = value
    return kept


def _drop_defaults(value: Any, model: type[BaseModel]) -> Any:
    if isinstance(value, dict):
        return without_defaults(value, model)
    return [_drop_defaults(item, model) for item in value] if isinstance(value, list) else value


def model_in_annotation(annotation: Any) -> type[BaseModel] | None:
    """The model in a field's annotation, by itself or as list item; or ``None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_in_annotation, get_args(annotation))), None)


def mask_secret_values(document: Any, variables: str = VARIABLES) -> Any:
    """Hide the values of variables that look secret, in a document or any part of one.
    ``variables`` is the key of the list of variables."""
    if isinstance(document, list):
        return [mask_secret_values(item, variables) for item in document]
    if not isinstance(document, dict):
        return document
    return {
        key: value
        if not isinstance(value, dict | list)
        else [_mask_variable(item) for item in value]
        if key == variables and isinstance(value, list)
        else mask_secret_values(value, variables)
        for key, value in document.items()
    }


def _mask_variable(variable: Any) -> Any:
    if not isinstance(variable, dict) or not variable.get("value"):
        return variable
    is_secret = looks_secret(str(variable.get("name", "")))
    return variable | {"value": MASK} if is_secret else variable


def load_spec(document: Document) -> WorkloadSpec:
    """Parse a document of :func:`dump`. ``SpecError`` names every wrong field."""
    try:
        return WorkloadSpec.model_validate(document, by_alias=True, by_name=False)
    except ValidationError as error:
        raise SpecError(problems_in(error)) from error


class ReadableDumper(yaml.SafeDumper):
    """Writes multi-line strings as blocks, and unusual line breaks as escapes."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = '"' if ODD_BREAKS & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


ReadableDumper.add_representer(str, _represent_text)


def to_yaml(document: Document) -> str:
    return yaml.dump(
        document, Dumper=ReadableDumper, sort_keys=False, allow_unicode=True, width=100
    )


def from_wire(spec: Document, *, no_master: bool, master: Document | None) -> Document:
    """Convert Run:ai's flat ``spec``, with worker and workload fields side by side, to our nested
    document."""
    whole = one_pod_from_wire(spec, WorkloadKind.DISTRIBUTED)
    whole["architecture"] = "workers_only" if no_master else "workers_and_master"
    return whole | (
        {} if master is None else {"master": tools_to_connections(_drop_data_sharing(master))}
    )


def one_pod_from_wire(spec: Document, kind: WorkloadKind) -> Document:
    """Convert Run:ai's ``spec`` of a kind without a master."""
    own = REPLICA_FIELDS | {URLS, PORTS}
    worker = tools_to_connections(
        _drop_data_sharing({key: value for key, value in spec.items() if key in own})
    )
    whole = {key: value for key, value in spec.items() if key in _workload_fields(kind)}
    if isinstance(roles := whole.get("roles"), list):
        whole["roles"] = [
            tools_to_connections(_drop_data_sharing(role)) if isinstance(role, dict) else role
            for role in roles
        ]
    return whole | {"worker": worker}


def _drop_data_sharing(replica: Document) -> Document:
    """Drop ``dataSharing: false`` of claims, which Run:ai's client always sends. Any other value is
    left for the spec to refuse."""
    storage = as_mapping(replica.get("storage"))
    if not isinstance(claims := storage.get("pvc"), list):
        return replica
    bare = [
        {key: it for key, it in claim.items() if not (key == "dataSharing" and it is False)}
        if isinstance(claim, dict)
        else claim
        for claim in claims
    ]
    return {**replica, "storage": {**storage, "pvc": bare}}


def unknown_keys(spec: Document, kind: WorkloadKind = WorkloadKind.DISTRIBUTED) -> list[str]:
    """Unknown keys of Run:ai's ``spec``, which :func:`from_wire` leaves out."""
    return [key for key in spec if key not in accepted_keys(kind)]


@cache
def accepted_keys(kind: WorkloadKind) -> frozenset[str]:
    """The keys that Run:ai's ``spec`` may have for this kind."""
    return REPLICA_FIELDS | _workload_fields(kind) | {URLS, PORTS}


@cache
def _workload_fields(kind: WorkloadKind) -> frozenset[str]:
    """The workload-wide fields of a request of this kind."""
    return frozenset(filter(kind.traits.may_have, WORKLOAD_FIELDS - HEAD_KEYS))


def to_wire(document: Document) -> Document:
    """The inverse of :func:`from_wire`, without the master. A complete document gives a complete
    ``spec``."""
    whole = {key: value for key, value in document.items() if key not in HEAD_KEYS}
    if isinstance(roles := whole.get("roles"), list):
        whole["roles"] = [_pod_to_wire(as_mapping(role)) for role in roles]
    return {**whole, **_pod_to_wire(as_mapping(document.get("worker")))}


def master_to_wire(document: Document) -> Document | None:
    return _pod_to_wire(as_mapping(document["master"])) if document.get("master") else None


def _pod_to_wire(pod: Document) -> Document:
    """Return a pod's part. An ``emptyDirVolume`` has no empty ``medium`` or ``name``, as in Run:ai,
    whose client refuses them."""
    storage = as_mapping(pod.get("storage"))
    if storage.get("emptyDirVolume"):
        volumes = [
            {key: value for key, value in volume.items() if value or key not in {"medium", "name"}}
            for volume in storage["emptyDirVolume"]
        ]
        pod = {**pod, "storage": {**storage, "emptyDirVolume": volumes}}
    return connections_to_tools(pod)
