"""Self-contained JSON Schemas of parts, to describe them to others."""

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]
REF = "#/$defs/"


def inlined_schema(part: type[BaseModel]) -> Schema:
    """The schema by wire names, with all definitions inlined."""
    whole = part.model_json_schema(by_alias=True)
    parts = whole.pop("$defs", {})
    inlined: Schema = _inline(whole, parts)
    return inlined


def _inline(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inline(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    if (ref := value.get("$ref", "")).startswith(REF):
        rest = {key: item for key, item in value.items() if key != "$ref"}
        return _inline(parts[ref.removeprefix(REF)] | rest, parts)
    return {key: _inline(item, parts) for key, item in value.items()}
