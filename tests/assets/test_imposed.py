"""Data sources that a policy imposes on workloads."""

from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from assets import services
from assets.data_source.kind import DATA_SOURCE
from assets.models import DataSource
from core.deletion import InUse
from projects.models import Project
from spec.problems.errors import SpecError
from tests.factories import (
    CredentialFactory,
    DataSourceFactory,
    ProjectFactory,
    UserFactory,
)
from tests.policies.examples import make_policy

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def admin() -> User:
    return UserFactory.create(administrator=True)


def imposing(*ids: Any) -> dict[str, Any]:
    return {"imposedAssets": {"worker": [str(pk) for pk in ids]}}


def problems(project: Project | None, *ids: Any) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as caught:
        make_policy(project, imposing(*ids))
    return [(it.field, it.message) for it in caught.value.problems]


def test_a_policy_imposes_only_what_its_whole_scope_can_use(project: Project) -> None:
    own = DataSourceFactory(home=project)
    others = DataSourceFactory(home=ProjectFactory())
    found = problems(project, own.pk, others.pk, uuid4())
    assert [field for field, _ in found] == ["imposedAssets.worker.1", "imposedAssets.worker.2"]
    assert "all of Account" in problems(None, own.pk)[0][1]


def test_a_data_source_with_a_credential_cannot_be_imposed(project: Project) -> None:
    credential = {"name": "key", "assetId": str(CredentialFactory(home=project).pk)}
    files = {"bucket": "data", "path": "/data", "credential": credential}
    bucket = DataSourceFactory(home=project, spec_json={"kind": "s3", "s3": files})
    ((field, message),) = problems(project, bucket.pk)
    assert field == "imposedAssets.worker.0"
    assert "credential" in message


def test_an_imposed_data_source_stays_while_its_policy_does(project: Project, admin: User) -> None:
    source: DataSource = DataSourceFactory.create(home=project)
    policy = make_policy(project, imposing(source.pk), name="shared data")
    with pytest.raises(InUse, match="policy shared data"):
        services.delete(DATA_SOURCE, source, by=admin)
    policy.delete()
    services.delete(DATA_SOURCE, source, by=admin)
