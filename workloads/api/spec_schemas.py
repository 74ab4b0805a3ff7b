"""``spec`` and ``masterSpec`` of requests and answers as JSON schemas, made of the spec's models.

What the requests are checked by is the spec itself (``spec.documents``); this describes them.
"""

from typing import Any

from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import WithJsonSchema

from spec.formats import documents
from spec.formats.published import ABSENT, OURS_OF, PORTS, URLS
from spec.kind import WorkloadKind
from spec.part import Part
from spec.parts.environment import ToolConnection
from spec.workload import Replica, WorkloadSpec

REFERENCE = "#/components/schemas/{model}"
EXCLUDE = {
    "type": "boolean",
    "default": False,
    "description": "true removes the item of this name that would be inherited",
}
NAMES = {
    WorkloadKind.DISTRIBUTED: "DistributedSpec",
    WorkloadKind.TRAINING: "TrainingSpec",
    WorkloadKind.WORKSPACE: "WorkspaceSpec",
}
MASTER = "MasterSpec"
MARK = "x-spec"
LISTED = {URLS: "ExposedUrl", PORTS: "ServicePort"}


def spec_of(*kinds: WorkloadKind, null: bool = False) -> WithJsonSchema:
    """Of any of these kinds. A mark, as pydantic follows each reference, and these are
    of schemas that it does not make; :func:`resolve` puts them in."""
    return _marked([NAMES[kind] for kind in kinds], null)


def _marked(names: list[str], null: bool) -> WithJsonSchema:
    return WithJsonSchema({MARK: names + (["null"] if null else [])})


MASTER_SPEC = _marked([MASTER], null=True)


def resolve(schema: Any) -> Any:
    """The same, with references in the place of marks."""
    if isinstance(schema, list):
        return [resolve(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if MARK not in schema:
        return {key: resolve(value) for key, value in schema.items()}
    ways = [
        {"type": "null"} if name == "null" else {"$ref": REFERENCE.format(model=name)}
        for name in schema[MARK]
    ]
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def model_of(kind: WorkloadKind) -> type[BaseModel]:
    """The flat ``spec`` of one kind: fields of its pods and of the workload side by side."""
    accepted = documents.accepted(kind)
    whole = {key: it for key, it in _fields(WorkloadSpec).items() if key in accepted}
    return _model(NAMES[kind], _fields(Replica) | _tools() | whole)


def master_model() -> type[BaseModel]:
    """Of the master's pod; what is left out is as for the workers."""
    return _model(MASTER, _fields(Replica) | _tools())


def definitions() -> dict[str, Any]:
    """The schemas by name, with those of their parts."""
    models = [*map(model_of, WorkloadKind), master_model()]
    schemas: dict[str, Any] = {}
    for model in models:
        schema = model.model_json_schema(ref_template=REFERENCE)
        schemas |= schema.pop("$defs", {})
        schema.pop("required", None)  # a template may give it, or the workers do
        schemas[model.__name__] = schema
    for name in LISTED.values():
        schemas[name]["required"] = ["container"]  # by which the rest can be named
    for name in _items(schemas):
        schemas[name]["properties"]["exclude"] = EXCLUDE
    return schemas


def _items(schemas: dict[str, Any]) -> set[str]:
    """Those that are items of a list."""
    references = set()
    for schema in schemas.values():
        for one in schema.get("properties", {}).values():
            ways = [one, *one.get("anyOf", ())]
            references |= {way["items"]["$ref"] for way in ways if "$ref" in way.get("items", {})}
    return {reference.rpartition("/")[2] for reference in references}


def _tools() -> dict[str, Any]:
    return {key: (tuple[_tool(key), ...], ()) for key in LISTED}  # type: ignore[misc]


def _tool(key: str) -> type[BaseModel]:
    theirs = {ours: name for name, ours in OURS_OF[key].items()}
    fields = {
        theirs.get(name, name): it
        for name, it in _fields(ToolConnection).items()
        if name not in ABSENT[key]
    }
    return _model(LISTED[key], fields)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    """By wire name: the annotation with its limits, and the default."""
    return {
        field.alias or name: (field.annotation, _plain(field))
        for name, field in model.model_fields.items()
    }


def _plain(field: FieldInfo) -> FieldInfo:
    copied = FieldInfo.merge_field_infos(field, alias=None)
    copied.alias = copied.validation_alias = copied.serialization_alias = None
    copied.alias_priority = None
    return copied


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(name, __config__=Part.model_config, **fields)
    return model
