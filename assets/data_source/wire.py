"""Data sources over REST: each type has a path of its own, and its ``spec`` is the one part that
the document of this type holds."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from assets.wire import NOT_HERE, AssetWire, Given, WireType, without
from spec.data.data_source import PART_OF, SourceKind
from spec.formats.described import schema_of
from spec.formats.documents import Document, ordered
from spec.formats.stored import mapping
from spec.problems.errors import WORDS, Path, Problem

NAME = {"name": WORDS["extra_forbidden"]}  # of an item of ``storage``; an asset has its own
#: Run:ai's words for the credential of each type, whose id they have.
WORDS_OF = {
    SourceKind.S3: ("accessKeyAssetId",),
    SourceKind.GIT: ("credentialId", "passwordAssetId"),
    SourceKind.SECRET: ("credentialAssetId",),
}
TWICE = "names the credential a second time; leave one of both out"
#: What Run:ai has of each type, and Trainyard has not.
LACKS: dict[SourceKind, Mapping[str, str]] = {
    SourceKind.PVC: {"dataSharing": NOT_HERE},
}
#: What says where the data is: a change without any of these leaves it there.
ORIGIN = {SourceKind.PVC: frozenset({"existingPvc", "claimName", "claimInfo"})}


def _type(source: SourceKind, kind: str, path: str, one: str, below: str = "") -> WireType:
    def read(spec: Document, asset: Any) -> Given:
        item, wrong = without(spec, {**NAME, **LACKS.get(source, {})})
        item = _kept(source, asset, item) | item
        by = [word for word in WORDS_OF.get(source, ()) if word in item]
        for word in by:
            given, named = item.pop(word), mapping(item.get("credential")).get("assetId")
            if given and item.get("credential") and given != named:
                wrong.append(Problem((word,), TWICE))
            elif given and not named:
                item["credential"] = {"assetId": given}

        def place(at: Path) -> Path:
            inside = at[1:] if at[:1] == (source.value,) else at
            return (by[0],) if by and inside[:1] == ("credential",) else inside

        document = {"kind": source.value, source.value: item}
        return Given(document, problems=tuple(wrong), place=place)

    def write(asset: Any) -> Document:
        item = ordered(mapping(mapping(asset.spec_json).get(source)), PART_OF[source])
        shown = {key: value for key, value in item.items() if key != "name"}
        for word in WORDS_OF.get(source, ())[:1]:
            shown[word] = mapping(item.get("credential")).get("assetId")
        return shown

    schema = partial(_schema, source)
    return WireType(
        kind,
        read,
        write,
        path=path,
        of=(source.value,),
        below=below or kind,
        one=one,
        schema=schema,
    )


def _kept(source: SourceKind, asset: Any, item: Document) -> Document:
    """What a change says nothing of, as it is."""
    names = ORIGIN.get(source, frozenset())
    if asset is None or names & item.keys():
        return {}
    stored = mapping(mapping(asset.spec_json).get(source))
    return {name: value for name, value in stored.items() if name in names}


def _schema(source: SourceKind) -> Document:
    """Of the part, in Run:ai's words."""
    whole = schema_of(PART_OF[source])
    own = {key: value for key, value in whole["properties"].items() if key != "name"}
    words = {word: {"type": "string", "format": "uuid"} for word in WORDS_OF.get(source, ())}
    return whole | {"properties": own | words}


WIRE = AssetWire(
    "datasource",
    (
        _type(SourceKind.NFS, "nfs", "nfs", "an NFS data source"),
        _type(SourceKind.PVC, "pvc", "pvc", "a PVC data source"),
        _type(SourceKind.S3, "s3", "s3", "an S3 data source"),
        _type(SourceKind.GIT, "git", "git", "a Git data source"),
        _type(SourceKind.HOST_PATH, "hostPath", "host-path", "a host path data source"),
        _type(
            SourceKind.CONFIG_MAP,
            "config-map",
            "config-map",
            "a ConfigMap data source",
            "config_map",
        ),
        _type(SourceKind.SECRET, "secret-volume", "secrets", "a Secret data source", "secret"),
    ),
)
