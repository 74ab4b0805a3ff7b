"""From the lists of ``spec.storage`` to folders of this machine, or why there is none."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from engines.base import Launch
from engines.local.volumes.volume import EMPTY, FOLDER, GIT, MEMORY, Volume
from spec.quantities import to_bytes
from spec.storage import HostPath, Medium, Nfs, Pvc, Storage
from spec.workload import Pod, Role

Complaint = tuple[str, str]  # place below the replica, message
SETTING = "TRAINYARD_LOCAL_PATHS"
OWN = "runs/{run}/volumes/{rank}"


def complaints(storage: Storage, paths: Sequence[str]) -> Iterator[Complaint]:
    """What of it this machine cannot give. ``paths``: what administrators allow."""
    for number, claim in enumerate(storage.pvc):
        yield from _claim(f"storage.pvc[{number}]", claim)
    for number, host in enumerate(storage.host_path):
        if said := _host_refused(host, paths):
            yield f"storage.hostPath[{number}].path", said
    for number, nfs in enumerate(storage.nfs):
        if not _share(nfs, paths):
            yield f"storage.nfs[{number}].path", _nfs_refused(nfs)
    for number, git in enumerate(storage.git):
        if git.secret_ref:
            said = "this machine has no Secrets, and fetches what needs no password"
            yield f"storage.git[{number}].secretRef", said
        elif git.credential:
            said = "this machine fetches only what needs no password"
            yield f"storage.git[{number}].credential", said
        elif not shutil.which("git"):
            yield f"storage.git[{number}].repository", "this machine has no git program"
    for kind in ("s3", "config_map_volume", "secret_volume"):
        if getattr(storage, kind):
            yield f"storage.{LACKING[kind][0]}", LACKING[kind][1]


LACKING = {
    "s3": ("s3", "this machine does not fetch buckets"),
    "config_map_volume": ("configMapVolume", "this machine has no ConfigMaps"),
    "secret_volume": ("secretVolume", "this machine has no Secrets"),
}


def volumes(launch: Launch, pod: Pod, paths: Sequence[str]) -> list[Volume]:
    """All that a rank sees. Call it for what has no complaints."""
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
    fetched = [
        Volume(
            GIT,
            it.path,
            f"{OWN}/git-{number}",
            origin=it.repository,
            branch=it.branch or "",
            revision=it.revision or "",
        )
        for number, it in enumerate(storage.git)
    ]
    return claims + hosts + shares + fetched + own


def _claimed(launch: Launch, claim: Pvc, name: str) -> Volume:
    """A claim by name is its project's; a new one is the workload's, and goes with it."""
    if claim.claim_name:
        source = f"../../claims/{quote(launch.handle.project, safe='')}/{claim.claim_name}"
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
        yield f"{place}.claimInfo.volumeMode", "this machine has no block devices to give"
    info = claim.claim_info
    if info and info.storage_class and not info.without_class:
        yield f"{place}.claimInfo.storageClass", "this machine has no storage classes"


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
    """The folder where this machine has the share; empty where it has none."""
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
