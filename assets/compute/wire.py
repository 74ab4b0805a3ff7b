"""A compute resource in REST, where its document is the same."""

from functools import partial
from typing import Any

from assets.wire import AssetWire, Given, WireType, without_in_items
from spec.formats.described import schema_of
from spec.formats.documents import Document, order_keys
from spec.formats.stored import as_mapping
from spec.parts.compute import Compute


def _read(spec: Document, asset: Any) -> Given:
    document, wrong = without_in_items(spec, ["extendedResources"])
    return Given(document, problems=tuple(wrong))


def _write(asset: Any) -> Document:
    return order_keys(as_mapping(asset.spec_json), Compute)


WIRE = AssetWire(
    "compute", (WireType("compute", _read, _write, schema=partial(schema_of, Compute)),)
)
