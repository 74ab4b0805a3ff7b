"""Data sources over REST: each type has a path of its own, and its ``spec`` is the one part that
the document of this type holds."""

from collections.abc import Mapping
from typing import Any

from assets.wire import NOT_HERE, AssetWire, Given, WireType, without
from spec.data_source import SourceKind
from spec.documents import Document
from spec.errors import WORDS, Path
from spec.stored import mapping

NAME = {"name": WORDS["extra_forbidden"]}  # of an item of ``storage``; an asset has its own
OURS = 'is not supported; name it in credential: {"name": …}'
#: What Run:ai has of each type, and Trainyard has not.
LACKS: dict[SourceKind, Mapping[str, str]] = {
    SourceKind.PVC: {"dataSharing": NOT_HERE},
    SourceKind.S3: {"accessKeyAssetId": OURS},
    SourceKind.GIT: {
        "credentialId": OURS,
        "passwordAssetId": OURS,
    },
    SourceKind.SECRET: {"credentialAssetId": OURS},
}


def _type(source: SourceKind, kind: str, path: str, one: str) -> WireType:
    def read(spec: Document, asset: Any) -> Given:
        item, wrong = without(spec, {**NAME, **LACKS.get(source, {})})
        document = {"kind": source.value, source.value: item}
        return Given(document, problems=tuple(wrong), place=place)

    def write(asset: Any) -> Document:
        item = mapping(mapping(asset.spec_json).get(source))
        return {key: value for key, value in item.items() if key != "name"}

    def place(at: Path) -> Path:
        return at[1:] if at[:1] == (source.value,) else at

    return WireType(kind, read, write, path=path, of=(source.value,), one=one)


WIRE = AssetWire(
    "datasource",
    (
        _type(SourceKind.NFS, "nfs", "nfs", "an NFS data source"),
        _type(SourceKind.PVC, "pvc", "pvc", "a PVC data source"),
        _type(SourceKind.S3, "s3", "s3", "an S3 data source"),
        _type(SourceKind.GIT, "git", "git", "a Git data source"),
        _type(SourceKind.HOST_PATH, "hostPath", "host-path", "a host path data source"),
        _type(SourceKind.CONFIG_MAP, "config-map", "config-map", "a ConfigMap data source"),
        _type(SourceKind.SECRET, "secret-volume", "secrets", "a Secret data source"),
    ),
)
