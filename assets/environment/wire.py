"""An environment in REST: permissions are next to the image, and tools nested as in Run:ai."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from assets.wire import (
    NOT_SUPPORTED,
    AssetInput,
    AssetWire,
    SupportedTypesWire,
    WireType,
    without_unsupported_fields,
    without_unsupported_in_items,
)
from spec.formats.documents import Document, order_keys
from spec.formats.json_schema import inlined_schema
from spec.formats.stored import as_mapping
from spec.framework import Framework
from spec.parts.environment import EXTERNAL_TOOLS, Environment, Security, ToolConnection
from spec.problems.errors import WORDS, Path, Problem

TOOLS = "connections"
INTERNAL_INFO = "internalToolInfo"
OVERRIDE = "overrideUidGidInWorkspace"
SECURITY = frozenset(field.alias or name for name, field in Security.model_fields.items())
#: Fields that ``internalToolInfo`` has, too. The last three are Trainyard's own.
SHARED_FIELDS = (
    *("toolType", "connectionType", "containerPort"),
    *("authorizationType", "authorizedUsers", "authorizedGroups"),
)
#: The other fields → the part that Run:ai nests them in, and the flag there that says they are set.
NESTED = {
    "nodePort": ("nodePortInfo", "isCustomPort"),
    "externalUrl": ("externalUrlInfo", "isCustomUrl"),
}
DESCRIPTIONS = {"nodePort": "The port of the tool", "externalUrl": "The URL of the tool"}
UNSUPPORTED = {"security": WORDS["extra_forbidden"]}
EXTERNAL_INFO = "externalToolInfo"
IS_EXTERNAL = "isExternal"
NOT_EXTERNAL = f"is for tools with {IS_EXTERNAL}"
TOOL_UNSUPPORTED = {
    IS_EXTERNAL: NOT_SUPPORTED,
    EXTERNAL_INFO: NOT_EXTERNAL,
    "exclude": NOT_SUPPORTED,
}
EXTERNAL_UNSUPPORTED = {
    INTERNAL_INFO: f"is for tools without {IS_EXTERNAL}",
    "exclude": NOT_SUPPORTED,
}
EXTERNAL_FIELDS = ("toolType", "externalUrl")
NEVER_FALSE = "cannot be false: standard workloads can use every environment; leave it out"


def _read(spec: Document, asset: Any) -> AssetInput:
    document, wrong = without_unsupported_fields(spec, UNSUPPORTED)
    document, excluded = without_unsupported_in_items(document, ["environmentVariables"])
    override = document.pop(OVERRIDE, False)
    if not isinstance(override, bool):
        wrong.append(Problem((OVERRIDE,), WORDS["bool_type"]))
    security = {key: document.pop(key) for key in SECURITY & document.keys()}
    if security:
        document["security"] = security
    if isinstance(items := document.get(TOOLS), list):
        problems: list[Problem] = []
        document[TOOLS] = [_read_tool(item, (TOOLS, n), problems) for n, item in enumerate(items)]
        wrong += problems
    columns = {"override_uid_gid": override is True}
    return AssetInput(document, columns, (*wrong, *excluded), partial(_request_path, document))


def _read_tool(item: Any, at: Path, wrong: list[Problem]) -> Any:
    """Return a tool as a connection. Anything but an object stays, for the spec to refuse."""
    if not isinstance(item, dict):
        return item
    if item.get(IS_EXTERNAL) is True:
        return _read_external_tool(item, at, wrong)
    outer, problems = without_unsupported_fields(item, TOOL_UNSUPPORTED, at)
    name = outer.pop("name", None)
    inner = as_mapping(outer.pop(INTERNAL_INFO, None))
    inner, missing = without_unsupported_fields(
        inner, {"servingPortInfo": NOT_SUPPORTED}, (*at, INTERNAL_INFO)
    )
    strays = [(*at, key) for key in outer]
    strays += [
        (*at, INTERNAL_INFO, key) for key in inner if key not in {*SHARED_FIELDS, *_nested_parts()}
    ]
    wrong += [
        *problems,
        *missing,
        *(Problem(path, WORDS["extra_forbidden"], "unknown") for path in strays),
    ]
    tool = {key: inner[key] for key in SHARED_FIELDS if inner.get(key) is not None}
    for ours, (part, flag) in NESTED.items():
        given = dict(as_mapping(inner.get(part)))
        value = given.pop(ours, None)
        says = given.pop(flag, None)
        within = (*at, INTERNAL_INFO, part)
        if says is not None and says is not (value is not None):
            wrong.append(Problem((*within, flag), f"must be true exactly if {ours} is given"))
        wrong += [Problem((*within, key), WORDS["extra_forbidden"], "unknown") for key in given]
        tool |= {} if value is None else {ours: value}
    return tool | ({} if name is None else {"name": name})


def _read_external_tool(item: Document, at: Path, wrong: list[Problem]) -> Document:
    """Return an external tool as a connection."""
    outer, problems = without_unsupported_fields(item, EXTERNAL_UNSUPPORTED, at)
    name = outer.pop("name", None)
    info = dict(as_mapping(outer.pop(EXTERNAL_INFO, None)))
    strays = [(*at, key) for key in outer if key != IS_EXTERNAL]
    strays += [(*at, EXTERNAL_INFO, key) for key in info if key not in EXTERNAL_FIELDS]
    wrong += [*problems, *(Problem(path, WORDS["extra_forbidden"], "unknown") for path in strays)]
    tool = {key: info[key] for key in EXTERNAL_FIELDS if info.get(key) is not None}
    if tool.get("toolType") not in EXTERNAL_TOOLS:
        message = f"must be one of {', '.join(EXTERNAL_TOOLS)}"
        wrong.append(Problem((*at, EXTERNAL_INFO, "toolType"), message))
        tool["toolType"] = next(iter(EXTERNAL_TOOLS))  # so that the rest is checked, too
    return tool | ({} if name is None else {"name": name})


def _nested_parts() -> Iterator[str]:
    yield from (part for part, _ in NESTED.values())


def _write(asset: Any) -> Document:
    document = order_keys(as_mapping(asset.spec_json), Environment)
    security = as_mapping(document.pop("security", None))
    tools = [_write_tool(as_mapping(item)) for item in document.pop(TOOLS, ())]
    return document | security | {TOOLS: tools, OVERRIDE: asset.override_uid_gid}


def _write_tool(item: Mapping[str, Any]) -> Document:
    if item.get("toolType") in EXTERNAL_TOOLS:
        info = {key: item[key] for key in EXTERNAL_FIELDS if key in item}
        return {"name": item.get("name"), IS_EXTERNAL: True, EXTERNAL_INFO: info}
    inner = {key: item[key] for key in SHARED_FIELDS if key in item}
    for ours, (part, flag) in NESTED.items():
        value = item.get(ours)
        inner[part] = {flag: value is not None} | ({} if value is None else {ours: value})
    return {"name": item.get("name"), IS_EXTERNAL: False, INTERNAL_INFO: inner}


def _schema() -> Document:
    """Return the schema, with permissions next to the image and tools nested as in Run:ai."""
    schema = inlined_schema(Environment)
    tool_properties = inlined_schema(ToolConnection)["properties"]
    properties = {key: value for key, value in schema["properties"].items() if key != "security"}
    inner = {key: tool_properties[key] for key in SHARED_FIELDS}
    for ours, (part, flag) in NESTED.items():
        nested_properties = {
            flag: _flag_schema(f"Whether {ours} is given"),
            ours: tool_properties[ours],
        }
        inner[part] = _object_schema(DESCRIPTIONS[ours], nested_properties)
    outside = {
        "toolType": tool_properties["toolType"],
        "externalUrl": tool_properties["externalUrl"],
    }
    outer = {
        "name": tool_properties["name"],
        IS_EXTERNAL: _flag_schema(
            "Whether the tool runs outside the pods, such as Weights & Biases"
        ),
        INTERNAL_INFO: _object_schema(
            "The tool, and how it is reached; for tools in the pods", inner
        ),
        EXTERNAL_INFO: _object_schema("The tool and its URL; for tools outside the pods", outside),
    }
    tools = {
        "type": "array",
        "description": "The tools of the environment",
        "items": {"type": "object", "properties": outer},
    }
    override = _flag_schema("Whether a workspace may choose user and group itself")
    rights = inlined_schema(Security)["properties"]
    return schema | {"properties": properties | rights | {TOOLS: tools, OVERRIDE: override}}


def _flag_schema(description: str) -> Document:
    return {"type": "boolean", "description": description}


def _object_schema(description: str, properties: Document) -> Document:
    return {"type": "object", "description": description, "properties": properties}


def _request_path(document: Document, path: Path) -> Path:
    if path[:1] == ("security",):
        return path[1:]
    if path[:1] != (TOOLS,) or len(path) < 3 or path[2] == "name":
        return path
    head = path[:2]
    field = path[2]
    rest = path[3:]
    if as_mapping(document[TOOLS][head[1]]).get("toolType") in EXTERNAL_TOOLS:
        return (*head, EXTERNAL_INFO, field, *rest)
    if field in NESTED:
        return (*head, INTERNAL_INFO, NESTED[str(field)][0], field, *rest)
    return (*head, INTERNAL_INFO, field, *rest)


def _read_supported_types(types: Mapping[str, Any]) -> AssetInput:
    """Read the supported workloads. A missing type is false, as in Run:ai, except for those that
    are always true here."""
    distributed = types.get("distributed", False)
    framework = types.get("distFramework", "")
    wrong = [Problem((key,), NEVER_FALSE) for key in ("workspace", "training") if key in types]
    wrong = [it for it in wrong if types[str(it.path[0])] is False]
    if types.get("inference"):
        wrong.append(Problem(("inference",), NOT_SUPPORTED))
    if framework and not distributed:
        wrong.append(Problem(("distFramework",), "is for distributed environments only"))
    elif framework not in {"", *Framework}:
        message = f"must be one of {', '.join(Framework)}"
        wrong.append(Problem(("distFramework",), message))
    return AssetInput({}, {"distributed": distributed, "framework": framework}, tuple(wrong))


def _write_supported_types(asset: Any) -> Document:
    everywhere = {"workspace": True, "training": True, "inference": False}
    framework = asset.framework or None
    return everywhere | {"distributed": asset.distributed, "distFramework": framework}


WIRE = AssetWire(
    "environment",
    (WireType("environment", _read, _write, schema=_schema),),
    SupportedTypesWire(_read_supported_types, _write_supported_types),
)
