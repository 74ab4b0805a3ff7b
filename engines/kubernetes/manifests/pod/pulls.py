"""Credentials for pulling a workload's images from private registries."""

import json
from base64 import b64encode

from engines.base import Launch, Manifest, Registry
from engines.kubernetes.labels import labels
from engines.kubernetes.names import pull_secret_name
from spec.values.registry import credential_server
from spec.workload import Replica

TYPE = "kubernetes.io/dockerconfigjson"
KEY = ".dockerconfigjson"


def pull_secret(launch: Launch, space: str) -> Manifest | None:
    """The workload's own pull secret with all its registries' passwords; ``None`` if there are
    none."""
    own = [it for it in launch.registries if not it.existing_secret]
    if not own:
        return None
    content = json.dumps({"auths": {credential_server(it.host): _login(it) for it in own}})
    meta = {"name": pull_secret_name(launch), "namespace": space, "labels": labels(launch)}
    data = {KEY: b64encode(content.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "type": TYPE, "metadata": meta, "data": data}


def _login(registry: Registry) -> dict[str, str]:
    both = f"{registry.username}:{registry.password}".encode()
    login = {"username": registry.username, "password": registry.password}
    email = {"email": registry.email} if registry.email else {}
    return login | email | {"auth": b64encode(both).decode()}


def pull_secrets(launch: Launch, replica: Replica) -> list[Manifest]:
    """Pull secrets of a pod: those in the spec, then those that are applied automatically."""
    names = [item.name for item in replica.image_pull_secrets if not item.credential]
    names += [it.existing_secret for it in launch.registries if it.existing_secret]
    if not all(it.existing_secret for it in launch.registries):
        names.append(pull_secret_name(launch))
    return [{"name": name} for name in dict.fromkeys(names)]
