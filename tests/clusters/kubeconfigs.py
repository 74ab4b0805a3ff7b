"""Kubeconfigs of no real cluster, and clusters of Trainyard that have one."""

from typing import Any

import yaml

from clusters.kinds.kubernetes.settings import KubernetesSecret, KubernetesSettings
from clusters.models import Cluster, Connection
from tests.factories import ClusterFactory

SECRET = "s3cret-token"


def kubeconfig(*, server: str = "https://127.0.0.1:1", **user: Any) -> str:
    """Return a kubeconfig. ``user`` are its credentials, by default a token."""
    return yaml.safe_dump(
        {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": user or {"token": SECRET}}],
        }
    )


def reached(**also: Any) -> Cluster:
    """Create a Kubernetes cluster. ``also`` are settings and fields of the row."""
    named = {key: also.pop(key) for key in KubernetesSettings.model_fields if key in also}
    settings = KubernetesSettings(**named).model_dump()
    cluster = ClusterFactory(kind="kubernetes", settings_json=settings, **also)
    connect(cluster, kubeconfig())
    return cluster


def connect(cluster: Cluster, text: str) -> None:
    """Store a kubeconfig as the secret of a cluster."""
    secret = KubernetesSecret(kubeconfig=text).model_dump_json()
    Connection.objects.update_or_create(cluster=cluster, defaults={"secret_json": secret})


def kubeconfig_of(cluster: Cluster) -> str:
    """Return the kubeconfig of a cluster from the database."""
    return KubernetesSecret.of(Connection.objects.get(cluster=cluster)).kubeconfig


NEW = "/clusters/new/"


def form_values(**also: Any) -> dict[str, Any]:
    """Return a valid post of the form for a new cluster, with changes on top."""
    return {
        "action": "save",
        "way": "kubeconfig",
        "name": "gpu",
        "kubeconfig": kubeconfig(),
        "namespace_prefix": "trainyard-",
    } | also
