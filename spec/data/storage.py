"""Volumes and data sources of a pod. Fields are those of Run:ai's REST API (``storage``)."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.places import MountPath, Name, Title
from spec.part import Flag, Part
from spec.values.patterns import BUCKET, SERVER, WEB_ADDRESS_ALONE
from spec.values.quantities import Quantity
from spec.values.variable import ONE_OF_BOTH, NamedCredential


def _check_repository(url: str) -> str:
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


def _check_revision(name: str) -> str:
    if name.startswith("-") or any(c.isspace() for c in name):
        raise ValueError(f"{name!r} is not a branch, tag or commit")
    return name


Revision = Annotated[str, Field(min_length=1, max_length=250), AfterValidator(_check_revision)]


class AccessModes(Part):
    read_write_once: Flag = Field(True, description="One node may write to it")
    read_only_many: Flag = Field(False, description="Many nodes may read it")
    read_write_many: Flag = Field(False, description="Many nodes may write to it")

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

    size: Quantity = Field(description="The size of a new claim, such as 10G")
    storage_class: Name | None = Field(
        None, description="The storage class of a new claim; the cluster's default if it is null"
    )
    access_modes: AccessModes = Field(
        AccessModes(), description="How many nodes may mount it, and whether they may write"
    )
    volume_mode: VolumeMode = Field(
        VolumeMode.FILESYSTEM, description="Whether it is a file system or a raw block device"
    )

    @property
    def without_class(self) -> bool:
        return self.storage_class == NO_CLASS


class Pvc(Part):
    """A claim that exists, by its name, or a new one that is created with the workload.

    An ephemeral one is deleted when the workload stops, any other with the workload. A new one with
    a name belongs to the project: the first workload that names it creates it, and it stays.
    """

    name: Title = Field("", description="The name")
    path: MountPath = Field(description="Where it is mounted")
    existing_pvc: Flag = Field(False, description="Whether the claim exists already")
    claim_name: Name | None = Field(None, description="The name of the claim")
    read_only: Flag = Field(False, description="Whether pods can only read it")
    ephemeral: Flag = Field(False, description="Whether a new claim ends with the workload")
    claim_info: ClaimInfo | None = Field(
        None, description="The volume that a new claim requests; null for an existing claim"
    )

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
    name: Title = Field("", description="The name")
    server: str = Field(
        min_length=1,
        max_length=253,
        pattern=SERVER,
        description="The host name or address of the server",
    )
    path: MountPath = Field(description="The directory of the server")
    mount_path: MountPath = Field(description="Where it is mounted")
    read_only: Flag = Field(True, description="Whether pods can only read it")


class Propagation(StrEnum):
    NONE = "None"
    HOST_TO_CONTAINER = "HostToContainer"


class HostPath(Part):
    name: Title = Field("", description="The name")
    path: MountPath = Field(description="The directory on the node")
    mount_path: MountPath = Field(description="Where it is mounted")
    read_only: Flag = Field(True, description="Whether pods can only read it")
    mount_propagation: Propagation = Field(
        Propagation.NONE, description="Whether mounts made later are seen in the pod"
    )


class S3(Part):
    """An S3 bucket, copied into ``path`` before the program starts. Without ``url`` it is at AWS.
    The access key is that of a ``credential`` of the gallery, or in a Secret."""

    name: Title = Field("", description="The name")
    bucket: str = Field(min_length=3, max_length=255, pattern=BUCKET, description="The bucket")
    path: MountPath = Field(description="Where it is fetched to")
    url: str | None = Field(
        None,
        max_length=2000,
        pattern=WEB_ADDRESS_ALONE,
        description="The URL of the service; Amazon's if it is null",
    )
    access_key_secret: Name | None = Field(
        None, description="The Secret, or the asset, that holds the access key"
    )
    secret_key_of_access_key_id: str = Field(
        "AccessKeyId",
        min_length=1,
        max_length=253,
        description="The key of the Secret that has the access key's ID",
    )
    secret_key_of_secret_key: str = Field(
        "SecretKey",
        min_length=1,
        max_length=253,
        description="The key of the Secret that has the secret key",
    )
    credential: NamedCredential | None = Field(
        None, description="A credential of Trainyard, by its name or ID"
    )

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

    name: Name = Field(description="The name of the Secret")
    authentication_method: GitMethod = Field(
        GitMethod.PASSWORD, description="How to sign in to the repository"
    )
    secret_key_of_user: str = Field(
        "username",
        min_length=1,
        max_length=253,
        description="The key of the Secret that has the username",
    )
    secret_key_of_password: str = Field(
        "password",
        min_length=1,
        max_length=253,
        description="The key of the Secret that has the password",
    )


class Git(Part):
    """A repository, cloned into ``path`` before the program starts, with a ``credential`` of the
    gallery or what is in a Secret."""

    name: Title = Field("", description="The name")
    repository: Annotated[str, Field(max_length=2000), AfterValidator(_check_repository)] = Field(
        description="The URL of the repository"
    )
    branch: Revision | None = Field(
        None, description="The branch to fetch; the repository's default if it is null"
    )
    revision: Revision | None = Field(
        None, description="The commit or tag to fetch; the newest of the branch if it is null"
    )
    path: MountPath = Field(description="Where it is fetched to")
    secret_ref: GitSecret | None = Field(
        None, description="The Secret that contains username and password"
    )
    credential: NamedCredential | None = Field(
        None, description="A credential of Trainyard, by its name or ID"
    )

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
    def key_secret(self) -> GitSecret | None:
        """The Secret with the private key, if one is needed. By SSH it can only be a key, whatever
        its method says."""
        secret = self.secret_ref
        says_so = secret is not None and secret.authentication_method is GitMethod.SSH_KEY
        return secret if is_by_ssh(self.repository) or says_so else None


class Medium(StrEnum):
    DISK = ""
    MEMORY = "Memory"


class EmptyDirVolume(Part):
    name: Title = Field("", description="A name of your own")
    path: MountPath = Field(description="The path in the container")
    medium: Medium = Field(Medium.DISK, description="Where it is stored: on disk, or Memory")
    size_limit: Quantity | None = Field(
        None, description="The most that it can hold, such as 1G; no limit if it is null"
    )


class Storage(Part):
    """Everything that is mounted into one kind of pod."""

    pvc: tuple[Pvc, ...] = Field((), description="Claims of volumes: existing ones, or new ones")
    nfs: tuple[Nfs, ...] = Field((), description="Directories of NFS servers")
    host_path: tuple[HostPath, ...] = Field((), description="Directories of the nodes")
    s3: tuple[S3, ...] = Field((), description="Buckets, fetched before the program starts")
    git: tuple[Git, ...] = Field(
        (), description="Git repositories, fetched before the program starts"
    )
    config_map_volume: tuple[ConfigMapVolume, ...] = Field((), description="ConfigMaps as files")
    secret_volume: tuple[SecretVolume, ...] = Field(
        (), description="Secrets or credentials as files"
    )
    empty_dir_volume: tuple[EmptyDirVolume, ...] = Field(
        (), description="Temporary directories, which are deleted with the pod"
    )

    @model_validator(mode="after")
    def _places_are_unique(self) -> Self:
        taken: set[str] = set()
        for field, path in self.mount_paths():
            where = path.rstrip("/")
            if where in taken:
                raise ValueError(f"{field}: {path} is mounted twice; choose another path")
            taken.add(where)
        return self

    def mount_paths(self) -> Iterator[tuple[str, str]]:
        """Yield the list of each mounted path, and the path."""
        for field, items in (("pvc", self.pvc), ("s3", self.s3), ("git", self.git)):
            yield from ((field, item.path) for item in items)
        yield from (("nfs", item.mount_path) for item in self.nfs)
        yield from (("hostPath", item.mount_path) for item in self.host_path)
        yield from (("configMapVolume", item.mount_path) for item in self.config_map_volume)
        yield from (("secretVolume", item.mount_path) for item in self.secret_volume)
        yield from (("emptyDirVolume", item.path) for item in self.empty_dir_volume)
