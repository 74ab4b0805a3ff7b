"""A compute resource in REST, where its document is the same."""

from functools import partial
from typing import Any

from assets.wire import AssetInput, AssetWire, WireType, without_unsupported_in_items
from spec.formats.documents import Document, order_keys
from spec.formats.json_schema import inlined_schema
from spec.formats.stored import as_mapping
from spec.parts.compute import Compute


def _read(spec: Document, asset: Any) -> AssetInput:
    document, wrong = without_unsupported_in_items(spec, ["extendedResources"])
    return AssetInput(document, problems=tuple(wrong))


def _write(asset: Any) -> Document:
    return order_keys(as_mapping(asset.spec_json), Compute)


WIRE = AssetWire(
    "compute", (WireType("compute", _read, _write, schema=partial(inlined_schema, Compute)),)
)
