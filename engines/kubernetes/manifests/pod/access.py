"""Credentials for a pod's repositories and buckets: keys of a Secret in the namespace, or of the
workload's own Secret, which holds the values of credentials."""

from collections.abc import Iterator
from dataclasses import dataclass

from engines.base import Launch, Manifest
from engines.kubernetes.manifests.values import own_roles, source_role
from engines.kubernetes.names import secret_name
from spec.data.credential import KEYS, KNOWN_HOSTS, CredentialKind, credential_kind_for
from spec.data.storage import S3, Git, Storage
from spec.values.variable import NamedCredential

SSH_KEY = "ssh"  # the key of the Secret, named as in Run:ai


@dataclass(frozen=True)
class SecretKeys:
    """A Secret and its ``keys``: user and password, the parts of an access key, or a private key.
    ``hosts`` is the key with the trusted hosts, if there is one."""

    secret: str
    keys: tuple[str, ...]
    by_ssh: bool = False
    hosts: str = ""


def git_secret(launch: Launch, role: str, number: int, git: Git) -> SecretKeys | None:
    """The Secret that opens a repository; ``None`` if it is public. ``role`` is the pod's."""
    if git.credential:
        kind = credential_kind_for("git", git.repository)
        own = _credential_keys(source_role(launch, role), f"git-{number}", kind)
        if kind is not CredentialKind.SSH_KEY:
            return SecretKeys(secret_name(launch), own)
        hosts = _key(source_role(launch, role), f"git-{number}", KNOWN_HOSTS)
        return SecretKeys(secret_name(launch), own, by_ssh=True, hosts=hosts)
    if git.key_secret:
        return SecretKeys(git.key_secret.name, (SSH_KEY,), by_ssh=True, hosts=KNOWN_HOSTS)
    if secret := git.secret_ref:
        return SecretKeys(secret.name, (secret.secret_key_of_user, secret.secret_key_of_password))
    return None


def bucket_secret(launch: Launch, role: str, number: int, s3: S3) -> SecretKeys | None:
    if s3.credential:
        kind = credential_kind_for("s3", s3.bucket)
        own = _credential_keys(source_role(launch, role), f"s3-{number}", kind)
        return SecretKeys(secret_name(launch), own)
    if s3.access_key_secret:
        keys = (s3.secret_key_of_access_key_id, s3.secret_key_of_secret_key)
        return SecretKeys(s3.access_key_secret, keys)
    return None


def secret_values(launch: Launch, role: str, storage: Storage) -> Iterator[tuple[str, str]]:
    """Keys and values for the workload's own Secret. ``role`` is that of the part of the spec."""
    for name, credential, kind in _credentials(storage):
        values = (launch.value_of(credential, key) for key in KEYS[kind])
        yield from zip(_credential_keys(role, name, kind), values, strict=True)
        if hosts := launch.value_of(credential, KNOWN_HOSTS):
            yield _key(role, name, KNOWN_HOSTS), hosts
    for name, files in _volume_files(launch, storage):
        yield from ((_key(role, name, number), text) for number, text in enumerate(files.values()))


def secret_volume(launch: Launch, role: str, name: str) -> Manifest:
    """A volume with files from the workload's own Secret. ``role`` is the pod's."""
    source = source_role(launch, role)
    replica = next(role.replica for role in own_roles(launch.spec) if role.name == source)
    files = dict(_volume_files(launch, replica.storage))[name]
    items = [{"key": _key(source, name, n), "path": file} for n, file in enumerate(files)]
    return {"secretName": secret_name(launch), "items": items}


def _volume_files(launch: Launch, storage: Storage) -> Iterator[tuple[str, dict[str, str]]]:
    """Name and files of each volume that is kept in the workload's own Secret."""
    for number, conf in enumerate(storage.config_map_volume):
        if conf.files:
            yield f"config-map-{number}", conf.texts
    for number, held in enumerate(storage.secret_volume):
        if at := held.credential:
            yield f"secret-{number}", {key: launch.value_of(at, key) for key in at.keys}


def _credentials(storage: Storage) -> Iterator[tuple[str, NamedCredential, CredentialKind]]:
    for number, git in enumerate(storage.git):
        if git.credential:
            yield f"git-{number}", git.credential, credential_kind_for("git", git.repository)
    for number, s3 in enumerate(storage.s3):
        if s3.credential:
            yield f"s3-{number}", s3.credential, credential_kind_for("s3", s3.bucket)


def _credential_keys(role: str, name: str, kind: CredentialKind) -> tuple[str, ...]:
    return tuple(_key(role, name, key) for key in KEYS[kind])


def _key(role: str, name: str, key: object) -> str:
    return f"{role}.{name}.{key}"
