"""Kubeconfigs that lead nowhere, and clusters that are reached by one."""

from typing import Any

import yaml

from clusters.models import Cluster, Connection, Kind
from tests.factories import ClusterFactory

SECRET = "s3cret-token"


def kubeconfig(*, server: str = "https://127.0.0.1:1", **user: Any) -> str:
    return yaml.safe_dump(
        {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": user or {"token": SECRET}}],
        }
    )


def reached(**also: Any) -> Cluster:
    cluster = ClusterFactory(kind=Kind.KUBERNETES, **also)
    Connection.objects.create(cluster=cluster, kubeconfig=kubeconfig())
    return cluster
