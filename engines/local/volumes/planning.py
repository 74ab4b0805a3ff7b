"""Map ``spec.storage`` to folders of this machine, or say why that is impossible."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from engines.base import Launch
from engines.local.records.volume import CLAIMS, EMPTY, FILES, FOLDER, GIT, MEMORY, S3, Volume
from spec.data.credential import FETCHED, KEYS, KNOWN_HOSTS, credential_kind_for
from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.storage import S3 as Bucket
from spec.data.storage import Git as Repository
from spec.data.storage import HostPath, Medium, Nfs, Pvc, Storage, is_by_ssh
from spec.values.quantities import to_bytes
from spec.values.variable import NamedCredential
from spec.workload import Pod, Role

Complaint = tuple[str, str]  # place below the replica, message
SETTING = "TRAINYARD_LOCAL_PATHS"
OWN_MODE = "0600"  # mode of files
OWN = "runs/{run}/volumes/{rank}"


def complaints(storage: Storage, paths: Sequence[str]) -> Iterator[Complaint]:
    """Storage that this machine cannot provide. ``paths`` are allowed by administrators."""
    for number, claim in enumerate(storage.pvc):
        yield from _claim(f"storage.pvc[{number}]", claim)
    for number, host in enumerate(storage.host_path):
        if said := _host_refused(host, paths):
            yield f"storage.hostPath[{number}].path", said
    for number, nfs in enumerate(storage.nfs):
        if not _share(nfs, paths):
            yield f"storage.nfs[{number}].path", _nfs_refused(nfs)
    for number, git in enumerate(storage.git):
        place = f"storage.git[{number}]"
        if git.secret_ref:
            yield f"{place}.secretRef", KEPT_ELSEWHERE
        for program in ("git", "ssh") if is_by_ssh(git.repository) else ("git",):
            if not shutil.which(program):
                yield f"{place}.repository", f"this machine has no {program} program"
    for number, bucket in enumerate(storage.s3):
        if bucket.access_key_secret:
            yield f"storage.s3[{number}].accessKeySecret", KEPT_ELSEWHERE
    for number, conf in enumerate(storage.config_map_volume):
        if conf.config_map:
            yield f"storage.configMapVolume[{number}].configMap", NO_CONFIG_MAPS
    for number, held in enumerate(storage.secret_volume):
        if held.secret:
            yield f"storage.secretVolume[{number}].secret", KEPT_ELSEWHERE


KEPT_ELSEWHERE = "this machine has no Secrets; choose a credential that has the values"
NO_CLASSES = "this machine has no storage classes"
NO_DEVICES = "this machine has no block devices to give"
NO_CONFIG_MAPS = "this machine has no ConfigMaps; give its files instead"


def volumes(launch: Launch, pod: Pod, paths: Sequence[str]) -> list[Volume]:
    """All volumes of a rank. Call it only for specs without complaints."""
    storage = pod.replica.storage
    role = Role.MASTER if pod.role is Role.MASTER and launch.spec.master else Role.WORKER
    own = [
        Volume(
            MEMORY if empty.medium is Medium.MEMORY else EMPTY,
            empty.path,
            f"{OWN}/empty-{number}",
            limit=_bytes(empty.size_limit),
        )
        for number, empty in enumerate(storage.empty_dir_volume)
    ]
    claims = [
        _claimed(launch, claim, f"{role}-volume-{number}")
        for number, claim in enumerate(storage.pvc)
    ]
    hosts = [
        Volume(
            FOLDER, it.mount_path, os.path.realpath(it.path), is_ours=False, read_only=it.read_only
        )
        for it in storage.host_path
    ]
    shares = [
        Volume(FOLDER, it.mount_path, _share(it, paths), is_ours=False, read_only=it.read_only)
        for it in storage.nfs
    ]
    repositories = [_repository(it, f"{OWN}/git-{number}") for number, it in enumerate(storage.git)]
    buckets = [_bucket(it, f"{role}-s3-{number}") for number, it in enumerate(storage.s3)]
    written = [_of_files(it, source) for source, it, _ in _written(launch, role, storage)]
    return claims + hosts + shares + repositories + buckets + written + own


def files(launch: Launch) -> dict[str, dict[str, str]]:
    """Names and texts of files, by source of the volume."""
    each = ((Role.WORKER, launch.spec.worker), (Role.MASTER, launch.spec.master))
    return {
        source: texts
        for role, replica in each
        for source, _, texts in (_written(launch, role, replica.storage) if replica else ())
    }


def _written(
    launch: Launch, role: Role, storage: Storage
) -> Iterator[tuple[str, ConfigMapVolume | SecretVolume, dict[str, str]]]:
    place = f"runs/{{run}}/volumes/{role}"
    for number, conf in enumerate(storage.config_map_volume):
        yield f"{place}-config-map-{number}", conf, conf.texts
    for number, held in enumerate(storage.secret_volume):
        if at := held.credential:
            texts = {key: launch.value_of(at, key) for key in at.keys}
            yield f"{place}-secret-{number}", held, texts


def keys(launch: Launch) -> dict[str, dict[str, str]]:
    """Credentials for everything to fetch, by id; empty texts in a launch that is only shown."""
    by_id: dict[str, dict[str, str]] = {}
    for replica in filter(None, (launch.spec.worker, launch.spec.master)):
        for kind, field in FETCHED.items():
            for item in getattr(replica.storage, kind):
                if item.credential:
                    needed = KEYS[credential_kind_for(kind, getattr(item, field))]
                    held = {key: launch.value_of(item.credential, key) for key in needed}
                    if hosts := launch.value_of(item.credential, KNOWN_HOSTS):
                        held[KNOWN_HOSTS] = hosts
                    by_id.setdefault(_id(item.credential), {}).update(held)
    return by_id


def _id(credential: NamedCredential | None) -> str:
    return str(credential.asset_id) if credential else ""


def _repository(git: Repository, source: str) -> Volume:
    """A repository; each rank gets a copy, because people modify repositories."""
    return Volume(
        GIT,
        git.path,
        source,
        origin=git.repository,
        branch=git.branch or "",
        revision=git.revision or "",
        credential=_id(git.credential),
    )


def _of_files(item: ConfigMapVolume | SecretVolume, source: str) -> Volume:
    alone = item.sub_path if isinstance(item, ConfigMapVolume) else None
    mode = int(item.default_mode or OWN_MODE, 8)
    return Volume(FILES, item.mount_path, source, read_only=True, mode=mode, file=alone or "")


def _bucket(s3: Bucket, name: str) -> Volume:
    """A bucket; one copy for all ranks, because buckets are large."""
    return Volume(
        S3,
        s3.path,
        f"runs/{{run}}/volumes/{name}",
        origin=f"s3://{s3.bucket}",
        url=s3.url or "",
        credential=_id(s3.credential),
    )


def _claimed(launch: Launch, claim: Pvc, name: str) -> Volume:
    """A claim. A named one belongs to its project; a new one to the workload, and is removed with
    it."""
    if claim.claim_name:
        source = f"{CLAIMS}{quote(launch.handle.project, safe='')}/{claim.claim_name}"
    else:
        source = f"runs/{{run}}/volumes/{name}" if claim.ephemeral else f"claims/{name}"
    return Volume(
        FOLDER,
        claim.path,
        source,
        read_only=claim.read_only,
        limit=_bytes(claim.claim_info.size) if claim.claim_info else None,
    )


def _claim(place: str, claim: Pvc) -> Iterator[Complaint]:
    if claim.is_block:
        yield f"{place}.claimInfo.volumeMode", NO_DEVICES
    info = claim.claim_info
    if info and info.storage_class and not info.without_class:
        yield f"{place}.claimInfo.storageClass", NO_CLASSES


def _host_refused(host: HostPath, paths: Sequence[str]) -> str:
    allowed = [path for path in paths if path.startswith("/")]
    real = Path(os.path.realpath(host.path))
    if not any(real.is_relative_to(os.path.realpath(path)) for path in allowed):
        some = ", ".join(allowed) or "none so far"
        return (
            f"administrators do not allow {host.path} on this machine; {SETTING} lists the folders "
            f"that they allow ({some})"
        )
    return "" if real.is_dir() else f"{host.path} is not a folder on this machine"


def _share(nfs: Nfs, paths: Sequence[str]) -> str:
    """The folder where this machine mounts the share; empty if it does not."""
    for entry in paths:
        export, _, folder = entry.partition("=")
        server, _, root = export.partition(":")
        if folder and server == nfs.server and Path(nfs.path).is_relative_to(root):
            real = Path(os.path.realpath(folder, strict=False), Path(nfs.path).relative_to(root))
            if real.resolve().is_relative_to(os.path.realpath(folder)) and real.is_dir():
                return str(real.resolve())
    return ""


def _nfs_refused(nfs: Nfs) -> str:
    return (
        f"this machine does not have {nfs.server}:{nfs.path}; an administrator mounts it and names "
        f"it in {SETTING}, such as {nfs.server}:{nfs.path}=/mnt/share"
    )


def _bytes(quantity: str | None) -> int | None:
    return to_bytes(quantity) if quantity else None
