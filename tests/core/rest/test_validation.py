"""Two who take one name at once: one has it, the other is told so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Model

from accounts.models import User
from clusters.models import Cluster, NodePool
from clusters.nodes import pools
from projects import departments, services
from projects.models import Department, Project
from tests.factories import ClusterFactory, DepartmentFactory, UserFactory

pytestmark = pytest.mark.django_db

Create = Callable[[Cluster, User], Any]


def pool(cluster: Cluster, by: User) -> Any:
    return pools.create_pool(cluster, by=by, name="vision", label_key="gpu", label_value="x")


def department(cluster: Cluster, by: User) -> Any:
    return departments.create_department(by=by, name="vision", cluster=cluster)


def project(cluster: Cluster, by: User) -> Any:
    return services.create_project(by=by, name="vision", cluster=cluster)


@pytest.mark.parametrize(
    ("model", "create", "more"),
    [
        (NodePool, pool, {"label_key": "zone"}),
        (Department, department, {}),
        (Project, project, {"department": True}),
    ],
    ids=["pool", "department", "project"],
)
def test_the_second_of_two_concurrent_requests_is_refused_for_its_name(
    model: type[Model], create: Create, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = ClusterFactory.create()
    judge = model.full_clean
    administrator = UserFactory.create(administrator=True)
    if more.get("department"):
        more = {"department": DepartmentFactory.create(cluster=cluster)}

    def judge_and_lose_the_race(row: Any, *args: Any, **how: Any) -> None:
        judge(row, *args, **how)
        monkeypatch.setattr(model, "full_clean", judge)
        model._default_manager.create(cluster=cluster, name="vision", **more)

    monkeypatch.setattr(model, "full_clean", judge_and_lose_the_race)
    with pytest.raises(ValidationError, match="already exists"):
        create(cluster, administrator)
