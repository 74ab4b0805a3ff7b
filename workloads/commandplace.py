"""Flags of the command line for volumes, data sources and where pods may run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Flags = Iterator[tuple[str, ...]]
Item = Mapping[str, Any]


def pairs(item: Item, names: Mapping[str, str], *switches: str) -> str:
    """``claimname=data,path=/data,ro``: what is given, by its flag name."""
    told = [f"{flag}={item[key]}" for key, flag in names.items() if item.get(key) not in (None, "")]
    return ",".join([*told, *filter(None, switches)])


def storage(replica: Item, prefix: str) -> Flags:
    for kind, (flag, write) in STORAGE.items():
        for item in replica.get("storage", {}).get(kind, []):
            yield f"--{prefix}{flag(item)}", write(item)


def _claim(item: Item) -> str:
    if item.get("existingPvc"):
        return pairs(item, {"claimName": "claimname", "path": "path"}, _ro(item))
    info = item.get("claimInfo") or {}
    modes = {"readWriteOnce": True} | (info.get("accessModes") or {})
    words = {"readWriteOnce": "rwo", "readOnlyMany": "rom", "readWriteMany": "rwm"}
    wide = [f"accessmode-{word}" for key, word in words.items() if modes.get(key)]
    asked = pairs(info, {"storageClass": "storageclass", "size": "size", "volumeMode": "mode"})
    ephemeral = "ephemeral" if item.get("ephemeral") else ""
    return ",".join(filter(None, [asked, f"path={item.get('path')}", *wide, _ro(item), ephemeral]))


def _ro(item: Item) -> str:
    return "ro" if item.get("readOnly") else ""


def _written(item: Item) -> str:
    return "readwrite" if item.get("readOnly") is False else ""


def _claim_flag(item: Item) -> str:
    return "existing-pvc" if item.get("existingPvc") else "new-pvc"


def _nfs(item: Item) -> str:
    names = {"path": "path", "server": "server", "mountPath": "mountpath"}
    return pairs(item, names, _written(item))


def _host_path(item: Item) -> str:
    names = {"path": "path", "mountPath": "mount", "mountPropagation": "mount-propagation"}
    return pairs(item, names, _written(item))


def _git(item: Item) -> str:
    names = {"name": "name", "repository": "repository", "path": "path"}
    told = {"secret": (item.get("secretRef") or {}).get("name"), "branch": item.get("branch")}
    told["rev"] = item.get("revision")
    return pairs(item, names, *(f"{key}={value}" for key, value in told.items() if value))


def _s3(item: Item) -> str:
    names = {"bucket": "bucket", "path": "path", "url": "url", "accessKeySecret": "accesskey"}
    return pairs(item, {"name": "name"} | names)


def _config_map(item: Item) -> str:
    names = {"mountPath": "path", "subPath": "subpath", "defaultMode": "default-mode"}
    return pairs(item, {"configMap": "name"} | names)


def _secret(item: Item) -> str:
    return pairs(item, {"mountPath": "path", "secret": "name", "defaultMode": "default-mode"})


def _empty_dir(item: Item) -> str:
    names = {"path": "path", "medium": "medium", "sizeLimit": "size-limit"}
    return pairs(item, {"name": "name"} | names)


Writer = tuple[Callable[[Item], str], Callable[[Item], str]]
STORAGE: dict[str, Writer] = {
    "pvc": (_claim_flag, _claim),
    "nfs": (lambda _: "nfs", _nfs),
    "hostPath": (lambda _: "host-path", _host_path),
    "git": (lambda _: "git-sync", _git),
    "s3": (lambda _: "s3", _s3),
    "configMapVolume": (lambda _: "configmap-map-volume", _config_map),
    "secretVolume": (lambda _: "secret-volume", _secret),
    "emptyDirVolume": (lambda _: "empty-dir-volume", _empty_dir),
}


def placement(replica: Item, prefix: str) -> Flags:
    """What one kind of pod says of its node."""
    if replica.get("nodeType"):
        yield f"--{prefix}node-type", str(replica["nodeType"])
    for item in replica.get("tolerations", []):
        names = ("key", "operator", "value", "effect", "seconds")
        yield f"--{prefix}toleration", pairs(item, dict(zip(names, names, strict=True)))
    affinity = replica.get("podAffinity") or {}
    if affinity:
        strict = "required" if affinity.get("type") == "Required" else "preferred"
        yield f"--{prefix}{strict}-pod-topology-key", str(affinity.get("key", ""))
    for item in replica.get("imagePullSecrets", []):
        yield f"--{prefix}image-pull-secret", str(item.get("name", ""))
    if replica.get("restartPolicy"):
        yield f"--{prefix}restart-policy", str(replica["restartPolicy"])


WHOLE = {
    "minReplicas": "min-replicas",
    "maxReplicas": "max-replicas",
    "slotsPerWorker": "slots-per-worker",
    "sshAuthMountPath": "ssh-auth-mount-path",
    "mpiLauncherCreationPolicy": "mpi-launcher-creation-policy",
    "priorityClass": "priority",
    "preemptibility": "preemptibility",
    "category": "category",
}


def whole(document: Item) -> Flags:
    for key, flag in WHOLE.items():
        if document.get(key) not in (None, ""):
            yield f"--{flag}", str(document[key])
    for pool in document.get("nodePools", []):
        yield "--node-pools", str(pool)
