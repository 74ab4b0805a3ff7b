"""What each stored role may do in REST, in its own department and in another one: generated from
the permissions of its row."""

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from accounts import tokens
from accounts.models import AccessRole, User
from accounts.permissions import PREDEFINED_ROLES
from projects.models import Project
from tests.factories import (
    IMAGE,
    ComputeResourceFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    give,
)
from tests.notifications.factories import WebhookFactory

pytestmark = pytest.mark.django_db
#: Method, path and the permission that it takes. Who lacks it gets 403 if they may see the object,
#: for which they need the resource's ``read``, and 404 if they may not.
CALLS = (
    ("GET", "/org-unit/projects/{project}", "projects.read"),
    ("PUT", "/org-unit/projects/{project}", "projects.update"),
    ("DELETE", "/org-unit/projects/{project}", "projects.delete"),
    ("GET", "/org-unit/departments/{department}", "departments.read"),
    ("PUT", "/org-unit/departments/{department}", "departments.update"),
    ("DELETE", "/org-unit/departments/{department}", "departments.delete"),
    ("GET", "/workloads/distributed/{workload}", "workloads.read"),
    ("POST", "/workloads/distributed/{workload}/suspend", "workloads.update"),
    ("DELETE", "/workloads/distributed/{workload}", "workloads.delete"),
    ("GET", "/asset/compute/{asset}", "compute-resources.read"),
    ("DELETE", "/asset/compute/{asset}", "compute-resources.delete"),
    ("GET", "/webhooks/{webhook}", "webhooks.read"),
    ("DELETE", "/webhooks/{webhook}", "webhooks.delete"),
    ("GET", "/authorization/access-rules/{rule}", "access-rules.read"),
    ("GET", "/clusters/{cluster}", "clusters.read"),
)
DONE = "done"


def create_objects() -> dict[str, Any]:
    """Create one object of each kind in a department of its own, and return their ids."""
    project: Project = ProjectFactory.create()
    member = UserFactory.create()
    workload = WorkloadFactory.create(project=project, created_by=member, running=True)
    return {
        "project": project.pk,
        "department": project.department_id,
        "cluster": project.cluster_id,
        "workload": workload.pk,
        "asset": ComputeResourceFactory.create(home=project).pk,
        "webhook": WebhookFactory.create(of_project=True, project=project).pk,
        "rule": member.access_rules.get().pk,
    }


def answer(user: User, method: str, path: str) -> str:
    """Send a request, and undo what it changed. Returns ``403``, ``404`` or ``done``, which also
    stands for a refusal of what was sent."""
    headers = {"Authorization": f"Bearer {tokens.access_token_for(user)}"}
    body = "{}" if method in {"PUT", "POST"} else ""
    with transaction.atomic():
        response = Client().generic(
            method, f"/api/v1{path}", body, content_type="application/json", headers=headers
        )
        transaction.set_rollback(True)
    return str(response.status_code) if response.status_code in {401, 403, 404} else DONE


def expected(permissions: set[str], action: str, *, own: bool) -> set[str]:
    reads = f"{action.partition('.')[0]}.read" in permissions
    if action in permissions:
        return {DONE} if own else {"404"}
    # One who may do this nowhere may be refused before anything is looked up.
    return {"403"} if own and reads else {"403", "404"}


@pytest.mark.parametrize("name", [role.name for role in PREDEFINED_ROLES])
def test_each_role_does_in_its_department_what_its_row_permits(
    name: str, valkey: object, sent: list[Any]
) -> None:
    own = create_objects()
    foreign = create_objects()
    user = UserFactory.create()
    give(user, name, f"department:{own['department']}")
    permissions = set(AccessRole.objects.get(name=name).permissions)
    wrong = []
    for method, path, action in CALLS:
        for where, ids in (("own", own), ("foreign", foreign)):
            found = answer(user, method, path.format(**ids))
            if found not in expected(permissions, action, own=where == "own"):
                wrong.append(f"{method} {path} {where}: {found}")
    assert not wrong


@pytest.mark.parametrize("name", [role.name for role in PREDEFINED_ROLES])
def test_each_role_submits_where_its_row_permits(
    name: str, valkey: object, sent: list[Any]
) -> None:
    project = ProjectFactory.create()
    user = UserFactory.create()
    give(user, name, project.department.scope_keys[0])
    headers = {"Authorization": f"Bearer {tokens.access_token_for(user)}"}
    spec = {"image": IMAGE, "numWorkers": 1, "distributedFramework": "PyTorch"}
    ids = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    response = Client().post(
        "/api/v1/workloads/distributed",
        json.dumps({"name": "a-run", **ids, "spec": spec}),
        "application/json",
        headers=headers,
    )
    may = "workloads.create" in AccessRole.objects.get(name=name).permissions
    assert (response.status_code == 202) is may, response.content
