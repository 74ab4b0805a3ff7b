"""The rights that Trainyard asks for, and the manifest that grants them. Pure."""

from typing import Any

import pytest
import yaml

from engines.base import Manifest
from engines.kubernetes.cluster.rbac import RIGHTS, WEB_RIGHTS, parse_subject, render_manifest


def granted(user: str = "") -> dict[str, list[Manifest]]:
    by_kind: dict[str, list[Manifest]] = {}
    for item in yaml.safe_load_all(render_manifest(user)):
        by_kind.setdefault(item["kind"], []).append(item)
    return by_kind


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ("", "trainyard:trainyard:trainyard"),
        ("system:serviceaccount:ml:runner", "trainyard:ml:runner"),
        ("ada", "trainyard:ada"),
        ("ada@example.com", "trainyard:ada@example.com"),
    ],
)
def test_role_and_binding_are_named_after_whom_they_are_for(user: str, name: str) -> None:
    documents = granted(user)
    (role,) = documents["ClusterRole"]
    (binding,) = documents["ClusterRoleBinding"]
    assert role["metadata"]["name"] == binding["metadata"]["name"] == name
    assert binding["roleRef"]["name"] == name
    assert binding["subjects"] == [parse_subject(user) or account()]


def account() -> dict[str, Any]:
    return {"kind": "ServiceAccount", "name": "trainyard", "namespace": "trainyard"}


def test_users_with_invalid_names_get_other_names() -> None:
    users = ["oidc:a/b", "oidc:a-b", "oidc:a%b", "https://x/#1"]
    names = [granted(user)["ClusterRole"][0]["metadata"]["name"] for user in users]
    assert len({*names}) == len(users)
    assert not any(set(name) & set("/% ") for name in names)


def verbs(resource: str) -> set[str]:
    return {verb for right in RIGHTS if right.resource == resource for verb in right.verbs}


def test_secrets_are_read_by_no_right_and_config_maps_are_listed_alone() -> None:
    assert verbs("secrets") == {"create", "patch", "delete"}
    assert verbs("configmaps") == {"list"}
    assert not any(right.needed for right in RIGHTS if right.resource == "configmaps")


def test_pages_may_do_a_part_of_what_the_worker_may() -> None:
    whole = {(right.group, right.resource, verb) for right in RIGHTS for verb in right.verbs}
    pages = {(right.group, right.resource, verb) for right in WEB_RIGHTS for verb in right.verbs}
    assert pages < whole
    written = {(resource, verb) for _, resource, verb in pages if verb not in {"get", "list"}}
    assert written == {("pods/exec", "create"), ("pods/portforward", "create")}
    assert not {"secrets", "configmaps"} & {resource for _, resource, _ in pages}
