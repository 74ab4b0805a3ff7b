"""Data sources in REST. Each type has a path of its own; its ``spec`` is the part of the document
for this type."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from assets.wire import NOT_SUPPORTED, AssetInput, AssetWire, WireType, without_unsupported_fields
from spec.data.data_source import PART_TYPES, SourceKind
from spec.formats.documents import Document, order_keys
from spec.formats.json_schema import inlined_schema
from spec.formats.stored import as_mapping
from spec.problems.errors import WORDS, Path, Problem

NAME = {"name": WORDS["extra_forbidden"]}  # an item's name; an asset has its own
#: Run:ai's words for the id of each type's credential.
CREDENTIAL_WORDS = {
    SourceKind.S3: ("accessKeyAssetId",),
    SourceKind.GIT: ("credentialId", "passwordAssetId"),
    SourceKind.SECRET: ("credentialAssetId",),
}
DESCRIPTIONS = {
    "accessKeyAssetId": "The ID of the credential with the access key",
    "credentialId": "The ID of the credential that signs in to the repository",
    "passwordAssetId": "The same as credentialId",
    "credentialAssetId": "The ID of the credential that becomes files",
}
TWICE = "names the credential a second time; leave one of both out"
#: Run:ai's fields of each type that Trainyard does not have.
UNSUPPORTED: dict[SourceKind, Mapping[str, str]] = {
    SourceKind.PVC: {"dataSharing": NOT_SUPPORTED},
}
#: Fields that say where the data is. A change without any of them leaves it there.
ORIGIN = {SourceKind.PVC: frozenset({"existingPvc", "claimName", "claimInfo"})}


def _wire_type(source: SourceKind, kind: str, path: str, one: str, below: str = "") -> WireType:
    def read(spec: Document, asset: Any) -> AssetInput:
        item, wrong = without_unsupported_fields(spec, {**NAME, **UNSUPPORTED.get(source, {})})
        item = _unmentioned_fields(source, asset, item) | item
        by = [word for word in CREDENTIAL_WORDS.get(source, ()) if word in item]
        for word in by:
            credential_id = item.pop(word)
            named_id = as_mapping(item.get("credential")).get("assetId")
            if credential_id and item.get("credential") and credential_id != named_id:
                wrong.append(Problem((word,), TWICE))
            elif credential_id and not named_id:
                item["credential"] = {"assetId": credential_id}

        def request_path(at: Path) -> Path:
            inside = at[1:] if at[:1] == (source.value,) else at
            return (by[0],) if by and inside[:1] == ("credential",) else inside

        document = {"kind": source.value, source.value: item}
        return AssetInput(document, problems=tuple(wrong), request_path=request_path)

    def write(asset: Any) -> Document:
        item = order_keys(as_mapping(as_mapping(asset.spec_json).get(source)), PART_TYPES[source])
        shown = {key: value for key, value in item.items() if key != "name"}
        for word in CREDENTIAL_WORDS.get(source, ())[:1]:
            shown[word] = as_mapping(item.get("credential")).get("assetId")
        return shown

    schema = partial(_schema, source)
    return WireType(
        kind,
        read,
        write,
        path=path,
        document_kinds=(source.value,),
        list_key=below or kind,
        noun_with_article=one,
        schema=schema,
    )


def _unmentioned_fields(source: SourceKind, asset: Any, item: Document) -> Document:
    """Return the stored fields that a change does not mention."""
    names = ORIGIN.get(source, frozenset())
    if asset is None or names & item.keys():
        return {}
    stored = as_mapping(as_mapping(asset.spec_json).get(source))
    return {name: value for name, value in stored.items() if name in names}


def _schema(source: SourceKind) -> Document:
    """Return the schema of a type, in Run:ai's words."""
    schema = inlined_schema(PART_TYPES[source])
    properties = {key: value for key, value in schema["properties"].items() if key != "name"}
    credential_properties = {
        word: {"type": "string", "format": "uuid", "description": DESCRIPTIONS[word]}
        for word in CREDENTIAL_WORDS.get(source, ())
    }
    return schema | {"properties": properties | credential_properties}


WIRE = AssetWire(
    "datasource",
    (
        _wire_type(SourceKind.NFS, "nfs", "nfs", "an NFS data source"),
        _wire_type(SourceKind.PVC, "pvc", "pvc", "a PVC data source"),
        _wire_type(SourceKind.S3, "s3", "s3", "an S3 data source"),
        _wire_type(SourceKind.GIT, "git", "git", "a Git data source"),
        _wire_type(SourceKind.HOST_PATH, "hostPath", "host-path", "a host path data source"),
        _wire_type(
            SourceKind.CONFIG_MAP,
            "config-map",
            "config-map",
            "a ConfigMap data source",
            "config_map",
        ),
        _wire_type(SourceKind.SECRET, "secret-volume", "secrets", "a Secret data source", "secret"),
        _wire_type(SourceKind.DATASET, "dataset", "dataset", "a dataset"),
    ),
)
