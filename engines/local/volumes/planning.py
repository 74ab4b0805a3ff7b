"""Map ``spec.storage`` to folders of this machine, or tell why that is impossible."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from engines.base import Launch
from engines.local.records.volume import CLAIMS, EMPTY, FILES, FOLDER, GIT, MEMORY, S3, Volume
from spec.data.credential import (
    ADDRESS_FIELDS,
    KEYS,
    KNOWN_HOSTS,
    CredentialKind,
    credential_kind_for,
)
from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.storage import S3 as Bucket
from spec.data.storage import EmptyDirVolume, HostPath, Medium, Nfs, Pvc, Storage, is_by_ssh
from spec.data.storage import Git as Repository
from spec.values.quantities import to_bytes
from spec.values.variable import NamedCredential
from spec.workload import Pod

Complaint = tuple[str, str]  # field below the replica, message
SETTING = "TRAINYARD_LOCAL_PATHS"
EACH_FOLDER = "/*"
DEFAULT_MODE = "0600"  # mode of files
RANK_VOLUMES = "runs/{run}/volumes/{rank}"


def complaints(storage: Storage, paths: Sequence[str]) -> Iterator[Complaint]:
    """Yield what this machine cannot provide. Administrators allow ``paths`` for mounting."""
    for number, claim in enumerate(storage.pvc):
        yield from _claim_complaints(f"storage.pvc[{number}]", claim)
    for number, host in enumerate(storage.host_path):
        problem = _host_path_complaint(host, paths)
        if problem:
            yield f"storage.hostPath[{number}].path", problem
    for number, nfs in enumerate(storage.nfs):
        if not _share_folder(nfs, paths):
            yield f"storage.nfs[{number}].path", _nfs_complaint(nfs)
    for number, git in enumerate(storage.git):
        field = f"storage.git[{number}]"
        if git.secret_ref:
            yield f"{field}.secretRef", NO_SECRETS
        programs = ("git", "ssh") if is_by_ssh(git.repository) else ("git",)
        for program in programs:
            if not shutil.which(program):
                yield f"{field}.repository", f"this machine has no {program} program"
    for number, bucket in enumerate(storage.s3):
        if bucket.access_key_secret:
            yield f"storage.s3[{number}].accessKeySecret", NO_SECRETS
    for number, config_map in enumerate(storage.config_map_volume):
        if config_map.config_map:
            yield f"storage.configMapVolume[{number}].configMap", NO_CONFIG_MAPS
    for number, secret in enumerate(storage.secret_volume):
        if secret.secret:
            yield f"storage.secretVolume[{number}].secret", NO_SECRETS


NO_SECRETS = "this machine has no Secrets; choose a credential that has the values"
NO_CLASSES = "this machine has no storage classes"
NO_DEVICES = "this machine has no block devices to give"
NO_CONFIG_MAPS = "this machine has no ConfigMaps; give its files instead"


def volumes(launch: Launch, pod: Pod, paths: Sequence[str]) -> list[Volume]:
    """Return all volumes of a rank. The spec must have no complaints."""
    storage = pod.replica.storage
    role = pod.described_by
    return [
        *(
            _claim_volume(launch, claim, f"{role}-volume-{number}")
            for number, claim in enumerate(storage.pvc)
        ),
        *(_existing_folder(host, os.path.realpath(host.path)) for host in storage.host_path),
        *(_existing_folder(nfs, _share_folder(nfs, paths)) for nfs in storage.nfs),
        *(
            _repository_volume(git, f"{RANK_VOLUMES}/git-{number}")
            for number, git in enumerate(storage.git)
        ),
        *(
            _bucket_volume(bucket, f"{role}-s3-{number}")
            for number, bucket in enumerate(storage.s3)
        ),
        *(_files_volume(item, source) for source, item, _ in _file_volumes(launch, role, storage)),
        *(
            _empty_volume(empty, f"{RANK_VOLUMES}/empty-{number}")
            for number, empty in enumerate(storage.empty_dir_volume)
        ),
    ]


def _empty_volume(empty: EmptyDirVolume, source: str) -> Volume:
    kind = MEMORY if empty.medium is Medium.MEMORY else EMPTY
    return Volume(kind, empty.path, source, limit=_bytes(empty.size_limit))


def files(launch: Launch) -> dict[str, dict[str, str]]:
    """Return the names and texts of files, by the source of their volume."""
    texts_by_source: dict[str, dict[str, str]] = {}
    for role in launch.spec.described_roles:
        for source, _, texts in _file_volumes(launch, role.name, role.replica.storage):
            texts_by_source[source] = texts
    return texts_by_source


def _file_volumes(
    launch: Launch, role: str, storage: Storage
) -> Iterator[tuple[str, ConfigMapVolume | SecretVolume, dict[str, str]]]:
    """Yield source, item and texts of each volume whose files are in the launch."""
    folder = f"runs/{{run}}/volumes/{role}"
    for number, config_map in enumerate(storage.config_map_volume):
        yield f"{folder}-config-map-{number}", config_map, config_map.texts
    for number, secret in enumerate(storage.secret_volume):
        credential = secret.credential
        if credential:
            texts = {key: launch.value_of(credential, key) for key in credential.keys}
            yield f"{folder}-secret-{number}", secret, texts


def keys(launch: Launch) -> dict[str, dict[str, str]]:
    """Return the credentials for everything that is fetched, by id. The values are empty in a
    launch that is only shown."""
    by_id: dict[str, dict[str, str]] = {}
    for role in launch.spec.described_roles:
        for kind, field in ADDRESS_FIELDS.items():
            for item in getattr(role.replica.storage, kind):
                if item.credential:
                    credential_kind = credential_kind_for(kind, getattr(item, field))
                    values = _credential_values(launch, item.credential, credential_kind)
                    by_id.setdefault(_credential_id(item.credential), {}).update(values)
    return by_id


def _credential_values(
    launch: Launch, credential: NamedCredential, kind: CredentialKind
) -> dict[str, str]:
    """Return the values that a credential of this kind has, and its known hosts if any."""
    values = {key: launch.value_of(credential, key) for key in KEYS[kind]}
    known_hosts = launch.value_of(credential, KNOWN_HOSTS)
    if known_hosts:
        values[KNOWN_HOSTS] = known_hosts
    return values


def _credential_id(credential: NamedCredential | None) -> str:
    return str(credential.asset_id) if credential else ""


def _repository_volume(git: Repository, source: str) -> Volume:
    """Return the volume of a repository. Each rank has a copy, because people modify them."""
    return Volume(
        GIT,
        git.path,
        source,
        origin=git.repository,
        branch=git.branch or "",
        revision=git.revision or "",
        credential=_credential_id(git.credential),
    )


def _files_volume(item: ConfigMapVolume | SecretVolume, source: str) -> Volume:
    file = item.sub_path if isinstance(item, ConfigMapVolume) else None
    mode = int(item.default_mode or DEFAULT_MODE, 8)
    return Volume(FILES, item.mount_path, source, read_only=True, mode=mode, file=file or "")


def _bucket_volume(s3: Bucket, name: str) -> Volume:
    """Return the volume of a bucket. All ranks share one copy, because buckets are large."""
    return Volume(
        S3,
        s3.path,
        f"runs/{{run}}/volumes/{name}",
        origin=f"s3://{s3.bucket}",
        url=s3.url or "",
        credential=_credential_id(s3.credential),
    )


def _claim_volume(launch: Launch, claim: Pvc, name: str) -> Volume:
    """Return the volume of a claim. A named claim belongs to its project; a new one to the
    workload, with which it is removed."""
    if claim.claim_name:
        source = f"{CLAIMS}{quote(launch.handle.project, safe='')}/{claim.claim_name}"
    elif claim.ephemeral:
        source = f"runs/{{run}}/volumes/{name}"
    else:
        source = f"claims/{name}"
    return Volume(
        FOLDER,
        claim.path,
        source,
        read_only=claim.read_only,
        limit=_bytes(claim.claim_info.size) if claim.claim_info else None,
    )


def claim_folder(home: Path, project: str, claim: str) -> Path:
    """Return the folder of a project's claim, below the ``home`` of the engine."""
    return home / "claims" / quote(project, safe="") / claim


def _claim_complaints(field: str, claim: Pvc) -> Iterator[Complaint]:
    if claim.is_block:
        yield f"{field}.claimInfo.volumeMode", NO_DEVICES
    info = claim.claim_info
    if info and info.storage_class and not info.without_class:
        yield f"{field}.claimInfo.storageClass", NO_CLASSES


def _existing_folder(item: HostPath | Nfs, source: str) -> Volume:
    """Return the volume of a folder that exists on this machine, and that Trainyard leaves as
    it is."""
    return Volume(FOLDER, item.mount_path, source, is_ours=False, read_only=item.read_only)


def _host_path_complaint(host: HostPath, paths: Sequence[str]) -> str:
    """Return why a host path may not be mounted; empty if it may."""
    allowed = [path for path in paths if path.startswith("/")]
    # Links are resolved first, so that none leads out of an allowed folder.
    real = Path(os.path.realpath(host.path))
    if not any(_is_allowed(real, path) for path in allowed):
        listed = [path for path in allowed if not path.endswith(EACH_FOLDER)]
        allowed_list = ", ".join(listed) or "none so far"
        return (
            f"administrators do not allow {host.path} on this machine; {SETTING} lists the folders "
            f"that they allow ({allowed_list})"
        )
    return "" if real.is_dir() else f"{host.path} is not a folder on this machine"


def _is_allowed(real: Path, path: str) -> bool:
    """Whether a real path is in an allowed one. What ends in ``/*`` allows the folders in it, each
    by its name, and not all of them together."""
    if path.endswith(EACH_FOLDER):
        return real.parent == Path(os.path.realpath(path.removesuffix(EACH_FOLDER)))
    return real.is_relative_to(os.path.realpath(path))


def _share_folder(nfs: Nfs, paths: Sequence[str]) -> str:
    """Return the folder where this machine mounts the share; empty if it does not."""
    for entry in paths:  # server:/export=/folder
        export, _, folder = entry.partition("=")
        server, _, root = export.partition(":")
        if folder and server == nfs.server and Path(nfs.path).is_relative_to(root):
            mounted = Path(os.path.realpath(folder))
            path = (mounted / Path(nfs.path).relative_to(root)).resolve()
            # A link in the share must not lead out of it.
            if path.is_relative_to(mounted) and path.is_dir():
                return str(path)
    return ""


def _nfs_complaint(nfs: Nfs) -> str:
    return (
        f"this machine does not have {nfs.server}:{nfs.path}; an administrator mounts it and names "
        f"it in {SETTING}, such as {nfs.server}:{nfs.path}=/mnt/share"
    )


def _bytes(quantity: str | None) -> int | None:
    return to_bytes(quantity) if quantity else None
