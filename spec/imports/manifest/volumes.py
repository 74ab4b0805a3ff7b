"""Reads the volumes of a pod, and where its container mounts them, as the storage of a workload."""

from collections.abc import Callable

from spec.imports.manifest.reading import Document, ManifestPart, without_empty

SHM = "/dev/shm"  # noqa: S108 -- where programs expect shared memory


def read_storage(spec: ManifestPart, container: ManifestPart) -> tuple[Document, bool]:
    """Return lists with their names in JSON, and whether shared memory is as large as the
    node's."""
    volumes = {volume.text("name"): volume for volume in spec.parts("volumes")}
    storage: dict[str, list[Document]] = {}
    mounted: set[str] = set()
    large = False
    for mount in container.parts("volumeMounts"):
        name = mount.text("name")
        path = mount.text("mountPath")
        volume = volumes.get(name)
        if volume is None:
            mount.refuse("name", f"no volume has the name {name!r}")
        elif name in mounted:
            mount.refuse("name", f"{name!r} is mounted twice; name another volume")
        elif _is_shared_memory(volume, path):
            volume.drop("emptyDir")
            large = True
        else:
            _add_volume(storage, volume, mount, path)
        mounted.add(name)
    for name, volume in volumes.items():
        if name not in mounted:
            volume.drop(*volume.names())
            volume.refuse("name", f"{name!r} is mounted nowhere; leave it out")
    return storage, large


def _is_shared_memory(volume: ManifestPart, path: str) -> bool:
    return path == SHM and volume.has_value("emptyDir", {"medium": "Memory"})


def _add_volume(
    storage: dict[str, list[Document]], volume: ManifestPart, mount: ManifestPart, path: str
) -> None:
    source = next((key for key in SOURCES if key in volume), "")
    if not source:
        volume.drop(*volume.names())
        volume.refuse("name", f"can be of {', '.join(SOURCES)}")
        return
    field, read = SOURCES[source]
    item = read(volume.part(source), mount, path)
    storage.setdefault(field, []).append(without_empty(item))


def _read_claim(claim: ManifestPart, mount: ManifestPart, path: str) -> Document:
    read_only = _is_read_only(claim, mount)
    name = claim.text("claimName")
    return {"existingPvc": True, "claimName": name, "path": path, "readOnly": read_only}


def _read_nfs(export: ManifestPart, mount: ManifestPart, path: str) -> Document:
    read_only = _is_read_only(export, mount)
    where = {"server": export.text("server"), "path": export.text("path")}
    return where | {"mountPath": path, "readOnly": read_only}


def _read_host_path(host: ManifestPart, mount: ManifestPart, path: str) -> Document:
    return {
        "path": host.text("path"),
        "mountPath": path,
        "readOnly": bool(mount.flag("readOnly")),
        "mountPropagation": mount.text("mountPropagation"),
    }


def _read_config_map(config: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.drop("readOnly")  # as it always is
    return {
        "configMap": config.text("name"),
        "mountPath": path,
        "subPath": mount.text("subPath"),
        "defaultMode": _read_mode(config),
    }


def _read_secret(secret: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.drop("readOnly")  # as it always is
    return {
        "secret": secret.text("secretName"),
        "mountPath": path,
        "defaultMode": _read_mode(secret),
    }


def _read_empty_dir(folder: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.require_one_of("readOnly", False)
    size = folder.quantity("sizeLimit")
    return {"path": path, "medium": folder.text("medium"), "sizeLimit": size}


#: Key of a volume → the list that it belongs to, and how it is read.
SOURCES: dict[str, tuple[str, Callable[[ManifestPart, ManifestPart, str], Document]]] = {
    "persistentVolumeClaim": ("pvc", _read_claim),
    "nfs": ("nfs", _read_nfs),
    "hostPath": ("hostPath", _read_host_path),
    "configMap": ("configMapVolume", _read_config_map),
    "secret": ("secretVolume", _read_secret),
    "emptyDir": ("emptyDirVolume", _read_empty_dir),
}


def _is_read_only(source: ManifestPart, mount: ManifestPart) -> bool:
    """Read both flags, and return whether either says that the volume is read-only."""
    return any([source.flag("readOnly"), mount.flag("readOnly")])


def _read_mode(source: ManifestPart) -> str:
    mode = source.whole_number("defaultMode")
    return "" if mode is None else f"{mode:04o}"
