"""The calls of the REST API, as its OpenAPI document lists them."""

from typing import Any
from uuid import uuid4

from config.rest.api import api

METHODS = ("get", "post", "put", "patch", "delete")


def calls() -> list[tuple[str, str]]:
    """Return the method and path of every call."""
    paths: dict[str, Any] = api.get_openapi_schema()["paths"]
    every = ((method, path) for path, methods in paths.items() for method in methods)
    return sorted((method.upper(), path) for method, path in every if method in METHODS)


def address(path: str) -> str:
    """Fill the parameters of a path with ids of things that do not exist, and return it without its
    prefix."""
    for name in (
        "workload_id",
        "cluster_id",
        "test_id",
        "asset_id",
        "template_id",
        "webhook_id",
        "delivery_id",
        "subscription_id",
        "dataset_id",
    ):
        path = path.replace(f"{{{name}}}", str(uuid4()))
    for name in (
        "department_id",
        "project_id",
        "pool_id",
        "node_id",
        "nodepool_name",
        "key_id",
        "user_id",
        "pod_id",
        "role_id",
        "account_id",
        "type_id",
        "category_id",
        "rule_id",
        "security_key",
        "setting_key",
        "channel_name",
        "pool",
        "workflow_id",
        "version",
    ):
        path = path.replace(f"{{{name}}}", "7")
    assert "{" not in path, "a parameter that this test does not know"
    return path.removeprefix("/api/v1")
