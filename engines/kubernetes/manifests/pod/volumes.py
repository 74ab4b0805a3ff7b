"""Build a pod's volumes, and the claims that are created for a workload. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from engines.base import Launch, Manifest
from engines.kubernetes.labels import EPHEMERAL, FIELD, WORKLOAD, labels
from engines.kubernetes.manifests.pod import access
from engines.kubernetes.manifests.pod.env import HOME
from engines.kubernetes.manifests.values import own_roles, source_role, without_empty
from engines.kubernetes.names import claim_name
from spec.data.files import ConfigMapVolume, SecretVolume
from spec.data.storage import AccessModes, Propagation, Pvc, Storage
from spec.workload import Replica

SHM = "/dev/shm"  # noqa: S108 -- where programs look for shared memory
MODES = {
    "read_write_once": "ReadWriteOnce",
    "read_only_many": "ReadOnlyMany",
    "read_write_many": "ReadWriteMany",
}


@dataclass
class Mounts:
    """Volumes of a pod, mounts of its container, and raw devices."""

    volumes: list[Manifest] = field(default_factory=list)
    mounts: list[Manifest] = field(default_factory=list)
    devices: list[Manifest] = field(default_factory=list)

    def add(self, name: str, path: str, source: Manifest, **how: object) -> None:
        self.volumes.append({"name": name, **source})
        self.mounts.append(without_empty({"name": name, "mountPath": path, **how}))


def mounts(launch: Launch, replica: Replica, role: str) -> Mounts:
    """Everything a replica mounts. Git and S3 sources are folders that init containers fill."""
    mounted = Mounts()
    if replica.compute.large_shm_request:
        mounted.add("shm", SHM, {"emptyDir": {"medium": "Memory"}})
    if replica.create_home_dir:
        mounted.add("home", HOME, {"emptyDir": {}})
    _mount_claims(mounted, launch, replica.storage, source_role(launch, role))
    _mount_network(mounted, replica.storage)
    _mount_objects(mounted, launch, replica.storage, role)
    for name, path in fetched_folders(replica.storage):
        mounted.add(name, path, {"emptyDir": {}})
    return mounted


def fetched_folders(storage: Storage) -> Iterator[tuple[str, str]]:
    """Volume and path of each folder that an init container fills."""
    for number, git in enumerate(storage.git):
        yield f"git-{number}", git.path
    for number, s3 in enumerate(storage.s3):
        yield f"s3-{number}", s3.path


def _mount_claims(mounted: Mounts, launch: Launch, storage: Storage, source: str) -> None:
    for number, claim in enumerate(storage.pvc):
        name = f"pvc-{number}"
        claimed = claim.claim_name or claim_name(launch, source, number)
        bound = without_empty({"claimName": claimed, "readOnly": claim.read_only or None})
        if claim.is_block:
            mounted.volumes.append({"name": name, "persistentVolumeClaim": bound})
            mounted.devices.append({"name": name, "devicePath": claim.path})
        else:
            mounted.add(
                name, claim.path, {"persistentVolumeClaim": bound}, readOnly=claim.read_only
            )


def _mount_network(mounted: Mounts, storage: Storage) -> None:
    for number, nfs in enumerate(storage.nfs):
        source = {"server": nfs.server, "path": nfs.path, "readOnly": nfs.read_only}
        mounted.add(f"nfs-{number}", nfs.mount_path, {"nfs": source}, readOnly=nfs.read_only)
    for number, host in enumerate(storage.host_path):
        follows = host.mount_propagation is not Propagation.NONE
        mounted.add(
            f"host-{number}",
            host.mount_path,
            {"hostPath": {"path": host.path}},
            readOnly=host.read_only,
            mountPropagation=str(host.mount_propagation) if follows else None,
        )


def _mount_objects(mounted: Mounts, launch: Launch, storage: Storage, role: str) -> None:
    """Mount ConfigMaps, Secrets and empty folders. Values from the spec or a credential are in the
    workload's own Secret."""
    for number, item in enumerate(storage.config_map_volume):
        name = f"config-map-{number}"
        own = {"secret": access.secret_volume(launch, role, name)} if item.files else {}
        source = own or {"configMap": {"name": item.config_map}}
        mounted.add(name, item.mount_path, _with_file_mode(item, source), subPath=item.sub_path)
    for number, held in enumerate(storage.secret_volume):
        name = f"secret-{number}"
        own = access.secret_volume(launch, role, name) if held.credential else {}
        source = {"secret": own or {"secretName": held.secret}}
        mounted.add(name, held.mount_path, _with_file_mode(held, source), readOnly=True)
    for number, empty in enumerate(storage.empty_dir_volume):
        source = without_empty({"medium": str(empty.medium), "sizeLimit": empty.size_limit})
        mounted.add(f"empty-{number}", empty.path, {"emptyDir": source})


def _with_file_mode(item: ConfigMapVolume | SecretVolume, source: dict[str, Manifest]) -> Manifest:
    """Add the file mode, if one is set."""
    mode = {"defaultMode": _mode(item.default_mode)}
    return {kind: without_empty({**where, **mode}) for kind, where in source.items()}


def _mode(octal: str | None) -> int | None:
    return int(octal, 8) if octal else None


def claims(launch: Launch, space: str) -> list[Manifest]:
    """The claims to create, the master's first. Those with a name of their own are only created if
    they do not exist."""
    items: dict[str, Manifest] = {}
    for role in own_roles(launch.spec):
        for number, claim in enumerate(role.replica.storage.pvc):
            if not claim.existing_pvc:
                name = claim.claim_name or claim_name(launch, role.name, number)
                path = f"{role.path}.storage.pvc[{number}]"
                items.setdefault(name, _claim_manifest(launch, claim, name, space, path))
    return list(items.values())


def _claim_manifest(launch: Launch, claim: Pvc, name: str, space: str, path: str) -> Manifest:
    info = claim.claim_info
    assert info  # noqa: S101 -- the spec gives every new claim one
    marks = labels(launch) | ({EPHEMERAL: "true"} if claim.ephemeral else {})
    # An empty class binds an existing volume; without the field the default class creates one.
    of_none = {"storageClassName": ""} if info.without_class else {}
    if claim.claim_name:  # it belongs to the project, and outlives the workload
        marks = {key: value for key, value in marks.items() if key != WORKLOAD}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": space,
            "labels": marks,
            "annotations": {FIELD: path},
        },
        "spec": without_empty(
            {
                "accessModes": access_modes(info.access_modes),
                "resources": {"requests": {"storage": info.size}},
                "storageClassName": None if info.without_class else info.storage_class,
                "volumeMode": str(info.volume_mode),
            }
        )
        | of_none,
    }


def access_modes(modes: AccessModes) -> list[str]:
    return [word for name, word in MODES.items() if getattr(modes, name)]
