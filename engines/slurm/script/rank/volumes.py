"""Shows ranks their volumes and the names of their gang, in mounts that only they see. Pure.

Each is a folder or file on the shared directory. A rank that runs in an image gets them from the
program that starts the image, and any other rank from ``engines/shared/mounts.py``, which the node
runs with its Python.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from engines.base import Launch
from engines.shared import mounts
from engines.slurm.layout import SharedFolder
from engines.slurm.script import sources
from engines.slurm.script.rank.words import quote_word
from engines.slurm.script.site import SlurmSite
from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.storage import EmptyDirVolume, HostPath, Medium, Pvc, Storage
from spec.values.quantities import to_bytes
from spec.values.variable import MASK
from spec.workload import Pod, Replica, WorkloadSpec

FILES = "files"  # a folder of the run, whose files only their owner can read
PROGRAM = f"{FILES}/mounts.py"
HOSTS = "/etc/hosts"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 -- a mount that nodes and images have
READ_ONLY = "ro"
WRITABLE = "rw"
MEMORY = "memory"
FILE_MODE = "0600"
#: Shell words of the script of a rank: the folder of the run, and the rank's file of host names.
RUN = '"$run"'
HOSTS_OF_RANK = '"$own.hosts"'


@dataclass(frozen=True)
class Mount:
    """What a rank sees at ``target``. ``source`` is a shell word: the path of a folder or file; or
    for ``MEMORY`` its limit in bytes. With ``creates`` the rank creates the folder if it is
    missing. ``permissions`` are those of ``files``, whose paths are shell words."""

    target: str
    source: str
    mode: str = WRITABLE
    creates: bool = False
    permissions: str = ""
    files: tuple[str, ...] = ()


def has_mounts(spec: WorkloadSpec, replica: Replica) -> bool:
    """Whether a rank needs mounts of its own."""
    storage = replica.storage
    volumes = (
        storage.pvc,
        storage.config_map_volume,
        storage.secret_volume,
        storage.empty_dir_volume,
        tuple(filter(is_elsewhere, storage.host_path)),
    )
    return bool(spec.roles) or any(volumes)


def is_elsewhere(host: HostPath) -> bool:
    """Whether a folder of the node is to be seen at another path than its own."""
    return host.path.rstrip("/") != host.mount_path.rstrip("/")


def mounts_of(launch: Launch, site: SlurmSite, pod: Pod, *, in_image: bool) -> list[Mount]:
    """Return all mounts of a rank; none if it can do without."""
    if not has_mounts(launch.spec, pod.replica):
        return []
    storage = pod.replica.storage
    role = pod.described_by
    found = [Mount(HOSTS, HOSTS_OF_RANK, READ_ONLY)] if launch.spec.roles else []
    for number, claim in enumerate(storage.pvc):
        found.append(_claim_mount(launch, site, claim, f"{role}-{number}"))
    for host in filter(is_elsewhere, storage.host_path):
        mode = READ_ONLY if host.read_only else WRITABLE
        found.append(Mount(host.mount_path, quote_word(host.path), mode))
    for source in sources.pod_sources(launch, pod):
        found.append(Mount(source.path, quote_word(sources.folder_of(launch, site, source))))
    for folder, item in _file_volumes(role, storage):
        found.append(_files_mount(folder, item))
    for number, empty in enumerate(storage.empty_dir_volume):
        found += _empty_mounts(empty, number, in_image=in_image)
    return found


def file_texts(launch: Launch, *, masked: bool = False) -> dict[str, str]:
    """Return the files that mounts need, by name below the folder of the run. With ``masked``, they
    contain no secrets."""
    roles = launch.spec.described_roles
    if not any(has_mounts(launch.spec, role.replica) for role in roles):
        return {}
    texts = {PROGRAM: Path(mounts.__file__).read_text()}
    for role in roles:
        for folder, item in _file_volumes(role.name, role.replica.storage):
            for name in _names_of(item):
                texts[f"{folder}/{name}"] = _text_of(launch, item, name, masked=masked)
    return texts


def preparing_lines(mounted: list[Mount]) -> Iterator[str]:
    """Yield lines of shell that create folders, and set the permissions of files."""
    for mount in mounted:
        if mount.creates:
            yield f'(umask "$ours" && mkdir -p {mount.source})'
        if mount.files:
            yield f"chmod {mount.permissions} {' '.join(mount.files)}"


def program_words(mounted: list[Mount]) -> str:
    """Return the shell words in front of a command that start it with these mounts."""
    words = [f'python3 {RUN}/{PROGRAM} "$own.lack" "$own.scratch" "$WORK"']
    words += [f"{it.mode} {it.source} {quote_word(it.target)}" for it in mounted]
    return " ".join([*words, "--"])


def image_options(mounted: list[Mount]) -> Iterator[str]:
    """Yield the options of apptainer that make these mounts."""
    for mount in mounted:
        flag = ":ro" if mount.mode == READ_ONLY else ""
        yield f"--bind {mount.source}:{quote_word(mount.target)}{flag}"


def _claim_mount(launch: Launch, site: SlurmSite, claim: Pvc, name: str) -> Mount:
    """Return the mount of a claim. A named claim belongs to its project; a new one to the workload,
    or if it is ephemeral to the run."""
    if claim.claim_name:
        source = quote_word(claim_folder(site, launch.handle.project, claim.claim_name))
    elif claim.ephemeral:
        source = f"{RUN}/volumes/claim-{name}"
    else:
        folder = SharedFolder(site.directory, launch.handle.workload_id)
        source = quote_word(f"{folder.path}/claims/{name}")
    mode = READ_ONLY if claim.read_only else WRITABLE
    return Mount(claim.path, source, mode, creates=True)


def claim_folder(site: SlurmSite, project: str, claim: str) -> str:
    """Return the folder of a project's claim."""
    return f"{site.directory}/claims/{quote(project, safe='')}/{claim}"


def _file_volumes(
    role: str, storage: Storage
) -> Iterator[tuple[str, ConfigMapVolume | SecretVolume]]:
    """Yield each volume whose files are in the launch, and their folder below that of the run."""
    for number, config_map in enumerate(storage.config_map_volume):
        yield f"{FILES}/{role}-config-map-{number}", config_map
    for number, secret in enumerate(storage.secret_volume):
        yield f"{FILES}/{role}-secret-{number}", secret


def _files_mount(folder: str, item: ConfigMapVolume | SecretVolume) -> Mount:
    only = item.sub_path if isinstance(item, ConfigMapVolume) else None
    source = f"{RUN}/{quote_word(folder)}"
    files = tuple(f"{source}/{quote_word(name)}" for name in _names_of(item))
    return Mount(
        item.mount_path,
        f"{source}/{quote_word(only)}" if only else source,
        READ_ONLY,
        permissions=item.default_mode or FILE_MODE,
        files=files,
    )


def _names_of(item: ConfigMapVolume | SecretVolume) -> Sequence[str]:
    if isinstance(item, ConfigMapVolume):
        return [*item.texts]
    return item.credential.keys if item.credential else ()


def _text_of(
    launch: Launch, item: ConfigMapVolume | SecretVolume, name: str, *, masked: bool
) -> str:
    if isinstance(item, ConfigMapVolume):
        return item.texts[name]
    if masked or item.credential is None:
        return MASK
    return launch.value_of(item.credential, name)


def _empty_mounts(empty: EmptyDirVolume, number: int, *, in_image: bool) -> Iterator[Mount]:
    """Yield the mount of an empty folder. An image has the shared memory of its node, and other
    folders of its ranks are on the shared directory."""
    is_memory = empty.medium is Medium.MEMORY
    if is_memory and not in_image:
        limit = str(to_bytes(empty.size_limit)) if empty.size_limit else "''"
        yield Mount(empty.path, limit, MEMORY)
    elif not (is_memory and empty.path.rstrip("/") == SHARED_MEMORY):
        yield Mount(empty.path, f'{RUN}/volumes/rank-"$RANK"/empty-{number}', creates=True)
