"""Reads the volumes of a pod, and where its container mounts them, as the storage of a workload."""

from collections.abc import Callable

from spec.imports.manifest.reading import Document, ManifestPart, filled

SHM = "/dev/shm"  # noqa: S108 -- where programs expect shared memory


def storage_of(spec: ManifestPart, container: ManifestPart) -> tuple[Document, bool]:
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
            _add(storage, volume, mount, path)
        mounted.add(name)
    for name, volume in volumes.items():
        if name not in mounted:
            volume.drop(*volume.names())
            volume.refuse("name", f"{name!r} is mounted nowhere; leave it out")
    return storage, large


def _is_shared_memory(volume: ManifestPart, path: str) -> bool:
    return path == SHM and volume.holds("emptyDir", {"medium": "Memory"})


def _add(
    storage: dict[str, list[Document]], volume: ManifestPart, mount: ManifestPart, path: str
) -> None:
    source = next((key for key in SOURCES if key in volume), "")
    if not source:
        volume.drop(*volume.names())
        volume.refuse("name", f"can be of {', '.join(SOURCES)}")
        return
    field, read = SOURCES[source]
    item = read(volume.part(source), mount, path)
    storage.setdefault(field, []).append(filled(item))


def _claim(claim: ManifestPart, mount: ManifestPart, path: str) -> Document:
    read_only = _either(claim, mount)
    name = claim.text("claimName")
    return {"existingPvc": True, "claimName": name, "path": path, "readOnly": read_only}


def _nfs(export: ManifestPart, mount: ManifestPart, path: str) -> Document:
    read_only = _either(export, mount)
    where = {"server": export.text("server"), "path": export.text("path")}
    return where | {"mountPath": path, "readOnly": read_only}


def _host(host: ManifestPart, mount: ManifestPart, path: str) -> Document:
    return {
        "path": host.text("path"),
        "mountPath": path,
        "readOnly": bool(mount.flag("readOnly")),
        "mountPropagation": mount.text("mountPropagation"),
    }


def _config_map(config: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.drop("readOnly")  # as it always is
    return {
        "configMap": config.text("name"),
        "mountPath": path,
        "subPath": mount.text("subPath"),
        "defaultMode": _mode(config),
    }


def _secret(secret: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.drop("readOnly")  # as it always is
    return {"secret": secret.text("secretName"), "mountPath": path, "defaultMode": _mode(secret)}


def _empty(folder: ManifestPart, mount: ManifestPart, path: str) -> Document:
    mount.one_of("readOnly", False)
    size = folder.quantity("sizeLimit")
    return {"path": path, "medium": folder.text("medium"), "sizeLimit": size}


#: Key of a volume → the list that it belongs to, and how it is read.
SOURCES: dict[str, tuple[str, Callable[[ManifestPart, ManifestPart, str], Document]]] = {
    "persistentVolumeClaim": ("pvc", _claim),
    "nfs": ("nfs", _nfs),
    "hostPath": ("hostPath", _host),
    "configMap": ("configMapVolume", _config_map),
    "secret": ("secretVolume", _secret),
    "emptyDir": ("emptyDirVolume", _empty),
}


def _either(source: ManifestPart, mount: ManifestPart) -> bool:
    """Read both flags, and return whether either says that the volume is read-only."""
    return any([source.flag("readOnly"), mount.flag("readOnly")])


def _mode(source: ManifestPart) -> str:
    mode = source.whole("defaultMode")
    return "" if mode is None else f"{mode:04o}"
