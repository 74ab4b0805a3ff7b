"""Volumes and data sources of a pod. Fields are those of Run:ai's REST API (``storage``)."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.places import Name, Place, Title
from spec.part import Flag, Part
from spec.values.patterns import BUCKET, SERVER, WEB_ADDRESS_ALONE
from spec.values.quantities import Quantity
from spec.values.variable import ONE_OF_BOTH, NamedCredential


def _repository(url: str) -> str:
    """Check the address of a repository. What git would read as an option, or as a program to run,
    is refused."""
    schemes = ("https://", "http://", "ssh://", "git://")
    scp = "@" in url and ":" in url.partition("@")[2] and "://" not in url
    if url.startswith("-") or any(c.isspace() for c in url) or not (url.startswith(schemes) or scp):
        raise ValueError(f"{url!r} is not a repository; write https://host/path or git@host:path")
    if url.startswith("http") and "@" in urlsplit(url).netloc:
        raise ValueError("must not contain a password; name a credential, or a Secret in secretRef")
    return url


def is_by_ssh(repository: str) -> bool:
    """Whether an address, which may be ``git@host:path``, needs an SSH key."""
    return not repository.startswith(("https://", "http://", "git://"))


def _revision(name: str) -> str:
    if name.startswith("-") or any(c.isspace() for c in name):
        raise ValueError(f"{name!r} is not a branch, tag or commit")
    return name


Revision = Annotated[str, Field(min_length=1, max_length=250), AfterValidator(_revision)]


class AccessModes(Part):
    read_write_once: Flag = True
    read_only_many: Flag = False
    read_write_many: Flag = False

    @model_validator(mode="after")
    def _any(self) -> Self:
        if not (self.read_write_once or self.read_only_many or self.read_write_many):
            raise ValueError("readWriteOnce: choose at least one access mode")
        return self


class VolumeMode(StrEnum):
    FILESYSTEM = "Filesystem"
    BLOCK = "Block"


#: Run:ai's name for no storage class: an existing volume is bound.
NO_CLASS = "runai-none"


class ClaimInfo(Part):
    """The volume that a new claim asks for. Without a storage class it is of the cluster's default
    one."""

    size: Quantity
    storage_class: Name | None = None
    access_modes: AccessModes = AccessModes()
    volume_mode: VolumeMode = VolumeMode.FILESYSTEM

    @property
    def without_class(self) -> bool:
        return self.storage_class == NO_CLASS


class Pvc(Part):
    """A claim that exists, by its name, or a new one that is created with the workload.

    An ephemeral one is deleted when the workload stops, any other with the workload. A new one with
    a name belongs to the project: the first workload that names it creates it, and it stays.
    """

    name: Title = ""
    path: Place
    existing_pvc: Flag = False
    claim_name: Name | None = None
    read_only: Flag = False
    ephemeral: Flag = False
    claim_info: ClaimInfo | None = None

    @model_validator(mode="after")
    def _new_or_existing(self) -> Self:
        if self.existing_pvc and not self.claim_name:
            raise ValueError("claimName: enter the name of an existing claim")
        if self.existing_pvc and (self.ephemeral or self.claim_info):
            wrong = "ephemeral" if self.ephemeral else "claimInfo"
            raise ValueError(f"{wrong}: is for new claims; leave it out, or set existingPvc false")
        if self.ephemeral and self.claim_name:
            raise ValueError("ephemeral: a claim with a name stays; leave one of both out")
        if not self.existing_pvc and not self.claim_info:
            named = ", or set existingPvc to use an existing one" if self.claim_name else ""
            raise ValueError(f"claimInfo: a new claim needs a size{named}")
        return self

    @property
    def is_block(self) -> bool:
        return bool(self.claim_info and self.claim_info.volume_mode is VolumeMode.BLOCK)


class Nfs(Part):
    name: Title = ""
    server: str = Field(min_length=1, max_length=253, pattern=SERVER)
    path: Place
    mount_path: Place
    read_only: Flag = True


class Propagation(StrEnum):
    NONE = "None"
    HOST_TO_CONTAINER = "HostToContainer"


class HostPath(Part):
    name: Title = ""
    path: Place
    mount_path: Place
    read_only: Flag = True
    mount_propagation: Propagation = Propagation.NONE


class S3(Part):
    """An S3 bucket, copied into ``path`` before the program starts. Without ``url`` it is at AWS.
    The access key is that of a ``credential`` of the gallery, or in a Secret."""

    name: Title = ""
    bucket: str = Field(min_length=3, max_length=255, pattern=BUCKET)
    path: Place
    url: str | None = Field(None, max_length=2000, pattern=WEB_ADDRESS_ALONE)
    access_key_secret: Name | None = None
    secret_key_of_access_key_id: str = Field("AccessKeyId", min_length=1, max_length=253)
    secret_key_of_secret_key: str = Field("SecretKey", min_length=1, max_length=253)
    credential: NamedCredential | None = None

    @model_validator(mode="after")
    def _keys_from_one_place(self) -> Self:
        if self.credential and self.access_key_secret:
            raise ValueError(f"credential: {ONE_OF_BOTH}")
        return self


class GitMethod(StrEnum):
    PASSWORD = "password"  # noqa: S105 -- the API's word for a method, not a password
    SSH_KEY = "ssh-key"


class GitSecret(Part):
    """The Secret with which a Git repository is fetched: it has a username and password, or a
    private SSH key under the key ``ssh``."""

    name: Name
    authentication_method: GitMethod = GitMethod.PASSWORD
    secret_key_of_user: str = Field("username", min_length=1, max_length=253)
    secret_key_of_password: str = Field("password", min_length=1, max_length=253)


class Git(Part):
    """A repository, cloned into ``path`` before the program starts, with a ``credential`` of the
    gallery or what is in a Secret."""

    name: Title = ""
    repository: Annotated[str, Field(max_length=2000), AfterValidator(_repository)]
    branch: Revision | None = None
    revision: Revision | None = None
    path: Place
    secret_ref: GitSecret | None = None
    credential: NamedCredential | None = None

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.credential and self.secret_ref:
            raise ValueError(f"credential: {ONE_OF_BOTH}")
        if self.credential and self.repository.startswith("git://"):
            raise ValueError(
                "credential: an address with git:// has no sign-in; write https://host/path or "
                "git@host:path"
            )
        return self

    @property
    def key(self) -> GitSecret | None:
        """The Secret with the private key, if one is needed. By SSH it can only be a key, whatever
        its method says."""
        secret = self.secret_ref
        says_so = secret is not None and secret.authentication_method is GitMethod.SSH_KEY
        return secret if is_by_ssh(self.repository) or says_so else None


class Medium(StrEnum):
    DISK = ""
    MEMORY = "Memory"


class EmptyDirVolume(Part):
    name: Title = ""
    path: Place
    medium: Medium = Medium.DISK
    size_limit: Quantity | None = None


class Storage(Part):
    """Everything that is mounted into one kind of pod."""

    pvc: tuple[Pvc, ...] = ()
    nfs: tuple[Nfs, ...] = ()
    host_path: tuple[HostPath, ...] = ()
    s3: tuple[S3, ...] = ()
    git: tuple[Git, ...] = ()
    config_map_volume: tuple[ConfigMapVolume, ...] = ()
    secret_volume: tuple[SecretVolume, ...] = ()
    empty_dir_volume: tuple[EmptyDirVolume, ...] = ()

    @model_validator(mode="after")
    def _places_are_unique(self) -> Self:
        taken: set[str] = set()
        for field, path in self.places():
            where = path.rstrip("/")
            if where in taken:
                raise ValueError(f"{field}: {path} is mounted twice; choose another path")
            taken.add(where)
        return self

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield the list of each mounted path, and the path."""
        for field, items in (("pvc", self.pvc), ("s3", self.s3), ("git", self.git)):
            yield from ((field, item.path) for item in items)
        yield from (("nfs", item.mount_path) for item in self.nfs)
        yield from (("hostPath", item.mount_path) for item in self.host_path)
        yield from (("configMapVolume", item.mount_path) for item in self.config_map_volume)
        yield from (("secretVolume", item.mount_path) for item in self.secret_volume)
        yield from (("emptyDirVolume", item.path) for item in self.empty_dir_volume)
