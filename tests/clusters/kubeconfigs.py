"""Kubeconfigs that lead nowhere."""

from typing import Any

import yaml

SECRET = "s3cret-token"


def kubeconfig(**user: Any) -> str:
    return yaml.safe_dump(
        {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": user or {"token": SECRET}}],
        }
    )
