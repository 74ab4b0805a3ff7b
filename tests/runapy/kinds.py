"""The kinds of assets that both NVIDIA's client and Trainyard have, with the names of its
methods."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ClientKind:
    """A kind of asset. ``request`` and ``model`` are beginnings of its models' names, ``listed`` is
    the method for its list."""

    api: str
    methods: str
    listed: str
    request: str
    model: str
    lists: str
    spec: dict[str, Any]
    below: str = ""  # its type in the list of all data sources
    update: dict[str, Any] | None = None  # if an update has other fields than a creation


KINDS = (
    ClientKind(
        "ComputeApi", "compute_asset", "list_compute_assets", "Compute", "ComputeAsset",
        "ComputeListResponse", {"cpuCoreRequest": 1, "cpuMemoryRequest": "1G"},
    ),
    ClientKind(
        "EnvironmentApi", "environment_asset", "list_environment_assets", "Environment",
        "EnvironmentAsset", "EnvironmentListResponse", {"image": "python:3.12"},
    ),
    ClientKind(
        "NFSApi", "nfs_asset", "list_nfs_assets", "NFS", "NFSAsset", "NFSListResponse",
        {"server": "nfs.example.com", "path": "/export", "mountPath": "/data"}, below="nfs",
    ),
    ClientKind(
        "PVCApi", "pvc_asset", "list_pvc_assets", "PVC", "PVCAsset", "PVCListResponse",
        {"existingPvc": True, "claimName": "data", "path": "/data"},
        below="pvc", update={"path": "/more"},
    ),
    ClientKind(
        "S3Api", "s3_asset", "list_s3_assets", "S3", "S3Asset", "S3ListResponse",
        {"bucket": "data", "path": "/data", "url": "https://s3.example.com"}, below="s3",
    ),
    ClientKind(
        "GitApi", "git_asset", "list_git_assets", "Git", "GitAsset", "GitListResponse",
        {"repository": "https://example.com/a.git", "path": "/code", "branch": "main"}, below="git",
    ),
    ClientKind(
        "HostPathApi", "host_path", "list_host_path_assets", "HostPath", "HostPathAsset",
        "HostPathListResponse", {"path": "/mnt/data", "mountPath": "/data"}, below="hostPath",
    ),
    ClientKind(
        "ConfigMapApi", "config_map_asset", "list_config_map_assets", "ConfigMap",
        "ConfigMapAsset", "ConfigMapListResponse",
        {"configMap": "conf", "mountPath": "/conf"}, below="config_map",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class ClientCredential:
    """A kind of credential. ``model`` is the name of its model, with which the names of its
    requests begin."""

    methods: str
    listed: str
    model: str
    spec: dict[str, Any]


CREDENTIALS = (
    ClientCredential(
        "access_key", "list_access_keys", "AccessKey",
        {"accessKeyId": "AKIA1", "secretAccessKey": "not-told"},
    ),
    ClientCredential(
        "docker_registry", "list_docker_registries", "DockerRegistry",
        {"url": "registry.example.com", "user": "ada", "password": "not-told"},
    ),
    ClientCredential(
        "generic_secret", "list_generic_secret", "GenericSecret",
        {"keyValuePairs": [{"key": "token", "value": "not-told"}]},
    ),
    ClientCredential("ngc_api_key", "list_ngc_api_key", "NgcApiKey", {"ngc_api_key": "not-told"}),
    ClientCredential(
        "password", "list_passwords", "Password", {"user": "ada", "password": "not-told"}
    ),
)  # fmt: skip
