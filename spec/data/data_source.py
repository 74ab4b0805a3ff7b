"""Data that exists somewhere, and how pods get it: one item of one list of ``spec.storage``."""

from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from spec.data.dataset import Dataset
from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.storage import S3, Git, HostPath, Nfs, Pvc, Storage
from spec.part import Part
from spec.values.variable import NamedCredential


class SourceKind(StrEnum):
    """Named as the lists of ``spec.storage``, where a data source becomes an item. Only a dataset
    has no list: a version of it becomes an item of another kind."""

    PVC = "pvc"
    NFS = "nfs"
    HOST_PATH = "hostPath"
    S3 = "s3"
    GIT = "git"
    CONFIG_MAP = "configMapVolume"
    SECRET = "secretVolume"  # noqa: S105 -- the API's word for a kind of volume, not a secret
    DATASET = "dataset"


PART_FIELDS = ("pvc", "nfs", "host_path", "s3", "git", "config_map_volume", "secret_volume")
PART_TYPES: dict[SourceKind, type[Part]] = {
    SourceKind.PVC: Pvc,
    SourceKind.NFS: Nfs,
    SourceKind.HOST_PATH: HostPath,
    SourceKind.S3: S3,
    SourceKind.GIT: Git,
    SourceKind.CONFIG_MAP: ConfigMapVolume,
    SourceKind.SECRET: SecretVolume,
    SourceKind.DATASET: Dataset,
}
#: The field of each kind that has the path in the container.
PATH_FIELDS = {
    kind: "mountPath" if "mount_path" in part.model_fields else "path"
    for kind, part in PART_TYPES.items()
}


class DataSourceSpec(Part):
    """``kind`` says which one of the others it holds. A new claim is each project's own, and stays
    when workloads go."""

    kind: SourceKind
    pvc: Pvc | None = None
    nfs: Nfs | None = None
    host_path: HostPath | None = None
    s3: S3 | None = None
    git: Git | None = None
    config_map_volume: ConfigMapVolume | None = None
    secret_volume: SecretVolume | None = None
    dataset: Dataset | None = None

    @model_validator(mode="after")
    def _one_of_its_kind(self) -> Self:
        document = self.model_dump(mode="json", by_alias=True, exclude={"kind"})
        given = [key for key, item in document.items() if item is not None]
        if given != [self.kind]:
            there = ", ".join(given) or "nothing"
            raise ValueError(f"{self.kind}: is the one part to give; given: {there}")
        if self.pvc and self.pvc.ephemeral:
            raise ValueError("pvc.ephemeral: the claim of a data source stays")
        return self

    @property
    def item(self) -> dict[str, Any]:
        """Its item in the list of ``spec.storage`` that ``kind`` names."""
        document: dict[str, Any] = self.model_dump(mode="json", by_alias=True)
        item: dict[str, Any] = document[self.kind]
        return item

    @property
    def as_storage(self) -> Storage:
        """A pod's storage with only this item; with nothing for a dataset."""
        given = {name: (part,) for name in PART_FIELDS if (part := getattr(self, name)) is not None}
        return Storage.model_construct(None, **given)

    @property
    def credential(self) -> NamedCredential | None:
        """The credential from the gallery that opens it, or that its files contain."""
        part = self.git or self.s3 or self.secret_volume
        return part.credential if part else None

    @property
    def path(self) -> str:
        """Its path in the container, unless a workload chooses another one."""
        path: str = self.item[PATH_FIELDS[self.kind]]
        return path

    def item_at(self, path: str) -> dict[str, Any]:
        """Return the item with another path in the container; an empty ``path`` keeps its own."""
        return self.item | ({PATH_FIELDS[self.kind]: path} if path else {})
