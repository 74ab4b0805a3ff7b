"""JSON schemas of ``spec`` and ``masterSpec``, generated from the models of the spec.

They only describe requests and answers. Requests are validated by the spec itself, in
``spec.formats.documents``.
"""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import WithJsonSchema

from spec.draft import ROLE_ASSETS, GalleryChoices
from spec.formats import documents
from spec.formats.connections import FIELD_NAMES_OF, IMPLIED_VALUES, PORTS, URLS
from spec.kind import WorkloadKind
from spec.part import Part
from spec.parts.environment import ToolConnection
from spec.workload import NamedRole, Replica, WorkloadSpec

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
TOOLS = {URLS: "Tools with a URL of their own", PORTS: "Tools with an external port"}


def spec_schema(*kinds: WorkloadKind, null: bool = False) -> WithJsonSchema:
    """Return the schema of the ``spec`` of any of these kinds.

    It is a marker at first: pydantic would follow a reference, and does not know these schemas.
    :func:`resolve` replaces the marker by references.
    """
    return _schema_marker([NAMES[kind] for kind in kinds], null)


def _schema_marker(names: list[str], null: bool) -> WithJsonSchema:
    return WithJsonSchema({MARK: names + (["null"] if null else [])})


MASTER_SPEC = _schema_marker([MASTER], null=True)


def resolve_markers(schema: Any) -> Any:
    """Return the schema with each marker replaced by references."""
    if isinstance(schema, list):
        return [resolve_markers(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if MARK not in schema:
        return {key: resolve_markers(value) for key, value in schema.items()}
    ways = [
        {"type": "null"} if name == "null" else {"$ref": REFERENCE.format(model=name)}
        for name in schema[MARK]
    ]
    described = {key: value for key, value in schema.items() if key != MARK}
    return described | (ways[0] if len(ways) == 1 else {"anyOf": ways})


def spec_model(kind: WorkloadKind) -> type[BaseModel]:
    """Return the model of the ``spec`` of one kind, which has fields of pods and of the workload
    side by side."""
    accepted = documents.accepted_keys(kind)
    workload_fields = {
        key: field for key, field in _model_fields(WorkloadSpec).items() if key in accepted
    }
    if "roles" in workload_fields:
        _, field = workload_fields["roles"]
        workload_fields["roles"] = (tuple[_role_model(), ...], field)  # type: ignore[misc]
    return _create_model(NAMES[kind], _model_fields(Replica) | _tool_fields() | workload_fields)


def _role_model() -> type[BaseModel]:
    """Return the model of an item of ``roles``."""
    chosen = create_model(
        "RoleAssets",
        environment=(UUID | None, Field(None, description="The ID of an environment")),
        compute=(UUID | None, Field(None, description="The ID of a compute resource")),
    )
    fields = _model_fields(NamedRole) | _tool_fields() | _model_fields(GalleryChoices)
    fields[ROLE_ASSETS] = (chosen | None, Field(None, description="Assets of its pods"))
    return _create_model("RoleSpec", fields)


def master_model() -> type[BaseModel]:
    """Return the model of ``masterSpec``. Fields that are left out are the same as for the
    workers."""
    return _create_model(MASTER, _model_fields(Replica) | _tool_fields())


def spec_definitions() -> dict[str, Any]:
    """Return all schemas by name, including those of their parts."""
    models = [*map(spec_model, WorkloadKind), master_model()]
    schemas: dict[str, Any] = {}
    for model in models:
        schema = model.model_json_schema(ref_template=REFERENCE)
        schemas |= schema.pop("$defs", {})
        schema.pop("required", None)  # a template or the workers may provide it
        schemas[model.__name__] = schema
    for name in LISTED.values():
        schemas[name]["required"] = ["container"]  # the other fields have defaults
    for name in _item_schema_names(schemas):
        schemas[name]["properties"]["exclude"] = EXCLUDE
    return schemas


def _item_schema_names(schemas: dict[str, Any]) -> set[str]:
    """Names of the schemas that are items of a list."""
    references = set()
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            for variant in [field, *field.get("anyOf", ())]:
                if "$ref" in variant.get("items", {}):
                    references.add(variant["items"]["$ref"])
    return {reference.rpartition("/")[2] for reference in references}


def _tool_fields() -> dict[str, Any]:
    return {
        key: (tuple[_tool_model(key), ...], Field((), description=description))  # type: ignore[misc]
        for key, description in TOOLS.items()
    }


def _tool_model(key: str) -> type[BaseModel]:
    theirs = {ours: name for name, ours in FIELD_NAMES_OF[key].items()}
    fields = {
        theirs.get(name, name): it
        for name, it in _model_fields(ToolConnection).items()
        if name not in IMPLIED_VALUES[key]
    }
    return _create_model(LISTED[key], fields)


def _model_fields(model: type[BaseModel]) -> dict[str, Any]:
    """Annotation (with its limits) and default of each field, by its name in JSON."""
    return {
        field.alias or name: (field.annotation, _without_aliases(field))
        for name, field in model.model_fields.items()
    }


def _without_aliases(field: FieldInfo) -> FieldInfo:
    copied = FieldInfo.merge_field_infos(field, alias=None)
    copied.alias = copied.validation_alias = copied.serialization_alias = None
    copied.alias_priority = None
    return copied


def _create_model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(name, __config__=Part.model_config, **fields)
    return model
