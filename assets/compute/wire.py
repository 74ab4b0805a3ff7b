"""A compute resource over REST: its document as it is."""

from functools import partial
from typing import Any

from assets.wire import AssetWire, Given, WireType, without_in_items
from spec.compute import Compute
from spec.described import schema_of
from spec.documents import Document, ordered
from spec.stored import mapping


def _read(spec: Document, asset: Any) -> Given:
    document, wrong = without_in_items(spec, ["extendedResources"])
    return Given(document, problems=tuple(wrong))


def _write(asset: Any) -> Document:
    return ordered(mapping(asset.spec_json), Compute)


WIRE = AssetWire(
    "compute", (WireType("compute", _read, _write, schema=partial(schema_of, Compute)),)
)
