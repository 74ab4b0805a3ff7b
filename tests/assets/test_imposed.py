"""Data sources that a policy imposes on workloads."""

from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.models import DataSource
from core.deletion import InUse
from projects.models import Project
from spec.problems.errors import SpecError
from tests.caller import Caller
from tests.factories import (
    CredentialFactory,
    DataSourceFactory,
    ProjectFactory,
    UserFactory,
    give,
)
from tests.policies.examples import default, make_policy
from tests.web import signed_in

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


def files_of_credential(project: Project) -> dict[str, Any]:
    credential = {"name": "key", "assetId": str(CredentialFactory(home=project, name="key").pk)}
    files = {"mountPath": "/keys", "credential": credential}
    return {"kind": "secretVolume", "secretVolume": files}


def test_a_policy_imposes_only_what_its_whole_scope_can_use(project: Project) -> None:
    own = DataSourceFactory(home=project)
    others = DataSourceFactory(home=ProjectFactory())
    found = problems(project, own.pk, others.pk, uuid4())
    assert [field for field, _ in found] == ["imposedAssets.worker.1", "imposedAssets.worker.2"]
    assert "all of Account" in problems(None, own.pk)[0][1]


def test_a_data_source_with_a_credential_cannot_be_imposed(project: Project) -> None:
    source = DataSourceFactory(home=project, spec_json=files_of_credential(project))
    ((field, message),) = problems(project, source.pk)
    assert field == "imposedAssets.worker.0"
    assert "credential" in message


def test_an_imposed_data_source_gets_no_credential(project: Project, admin: User) -> None:
    files = {"kind": "secretVolume", "secretVolume": {"mountPath": "/keys", "secret": "keys"}}
    source: DataSource = DataSourceFactory.create(home=project, spec_json=files)
    make_policy(project, imposing(source.pk))
    private = files_of_credential(project)
    with pytest.raises(SpecError) as caught:
        services.update(DATA_SOURCE, source, by=admin, document=private)
    (problem,) = caught.value.problems
    assert (problem.field, problem.source) == (
        "secretVolume.credential",
        f"policy limits of Project {project}",
    )
    assert f"policy limits of Project {project} imposes this data source" in problem.message
    make_policy(project, {})
    services.update(DATA_SOURCE, source, by=admin, document=private)


def test_an_asset_lists_the_policies_that_name_it(project: Project, admin: User) -> None:
    source: DataSource = DataSourceFactory.create(home=project)
    credential = CredentialFactory.create(home=project)
    variable = {"name": "KEY", "credential": {"assetId": str(credential.pk), "key": "key"}}
    names_it = default("environmentVariables.instances", [variable])
    policy = make_policy(project, imposing(source.pk) | names_it, name="shared-data")
    for asset, address in ((source, "datasource/nfs"), (credential, "credentials/generic-secret")):
        page = signed_in(admin).get(asset.get_absolute_url()).content.decode()
        assert f'<a href="{policy.get_absolute_url()}">shared-data</a></td><td>Policy</td>' in page
        status, answer = Caller(admin)("GET", f"/asset/{address}/{asset.pk}?usageInfo=true")
        assert status == 200, answer
        assert answer["usedBy"]["policies"] == [{"id": str(policy.pk), "name": "shared-data"}]
    page = signed_in(admin).get("/data-sources/").content.decode()
    assert "Used by 1 policy" in page
    with pytest.raises(InUse, match="policy shared-data"):
        services.delete(CREDENTIAL, credential, by=admin)
    make_policy(project, {})
    services.delete(CREDENTIAL, credential, by=admin)


def test_a_policy_does_not_hold_a_credential_that_its_author_may_not_see(
    project: Project, admin: User
) -> None:
    hidden = CredentialFactory.create(home=ProjectFactory())
    author = UserFactory.create()
    give(author, "Department administrator", project.department.scope_keys[0])
    variable = {"name": "KEY", "credential": {"assetId": str(hidden.pk), "key": "key"}}
    make_policy(project, default("environmentVariables.instances", [variable]), by=author)
    services.delete(CREDENTIAL, hidden, by=admin)


def test_an_imposed_data_source_stays_while_its_policy_does(project: Project, admin: User) -> None:
    source: DataSource = DataSourceFactory.create(home=project)
    policy = make_policy(project, imposing(source.pk), name="shared data")
    with pytest.raises(InUse, match="policy shared data"):
        services.delete(DATA_SOURCE, source, by=admin)
    policy.delete()
    services.delete(DATA_SOURCE, source, by=admin)
