"""A template in REST, which can be found and read. It is created from a person's answers in the
wizard."""

from typing import Any

from assets.wire import AssetInput, AssetWire, WireType
from spec.formats.documents import Document
from spec.formats.stored import as_mapping


def _read(spec: Document, asset: Any) -> AssetInput:
    return AssetInput(spec)


def _write(asset: Any) -> Document:
    return as_mapping(asset.draft_json)


WIRE = AssetWire(
    "workload-template", (WireType("workload-template", _read, _write),), read_only=True
)
