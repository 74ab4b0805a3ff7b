"""What is kept of an asset with each change."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from assets import services
from assets.environment.kind import ENVIRONMENT
from assets.kinds import KINDS
from assets.models import AssetVersion, Environment
from assets.versions import history
from projects.models import Project
from projects.scopes import OwningScope
from spec.problems.errors import SpecError
from tests.factories import EnvironmentFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db
IMAGE = "pytorch:1"
NEWER = "pytorch:2"


@pytest.fixture
def administrator(db: None) -> User:
    return UserFactory(administrator=True)


@pytest.fixture
def home(db: None) -> Project:
    project: Project = ProjectFactory()
    return project


@pytest.fixture
def environment(administrator: User, home: Project) -> Environment:
    return services.create(
        ENVIRONMENT,
        by=administrator,
        name="base",
        scope=OwningScope(home),
        document={"image": IMAGE},
    )


def update(environment: Environment, by: User, **fields: Any) -> None:
    services.update(ENVIRONMENT, environment, by=by, **fields)


def lines(environment: Environment, by: User) -> list[list[str]]:
    """The changed lines of each version, newest first."""
    changes = history.changes(ENVIRONMENT, environment, by)
    return [[line for tone, line in change.lines if tone] for change in changes]


def test_each_change_is_kept_with_who_made_it_and_what_differs(
    environment: Environment, administrator: User
) -> None:
    ada = UserFactory(administrator=True)
    update(environment, ada, document={"image": NEWER}, description="newer")
    newest, first = history.changes(ENVIRONMENT, environment, administrator)
    assert (newest.version.number, newest.version.by, newest.is_current) == (2, ada, True)
    assert (first.version.number, first.version.by, first.is_first) == (1, administrator, True)
    assert lines(environment, administrator) == [
        ["+description: newer", f"-image: {IMAGE}", f"+image: {NEWER}"],
        [],
    ]


def test_saving_the_same_is_no_version(environment: Environment, administrator: User) -> None:
    update(environment, administrator, document={"image": IMAGE}, name="base")
    assert AssetVersion.objects.count() == 1


def test_an_asset_of_before_keeps_what_it_was_as_its_first_version(administrator: User) -> None:
    old: Environment = EnvironmentFactory(spec_json={"image": IMAGE})
    assert [
        change.version.number for change in history.changes(ENVIRONMENT, old, administrator)
    ] == [1]
    assert not AssetVersion.objects.exists()
    update(Environment.objects.get(pk=old.pk), administrator, document={"image": NEWER})
    assert lines(old, administrator)[0] == [f"-image: {IMAGE}", f"+image: {NEWER}"]


def test_an_earlier_version_is_restored_as_the_next_one(
    environment: Environment, administrator: User
) -> None:
    update(
        environment, administrator, name="other", document={"image": NEWER}, override_uid_gid=True
    )
    first = history.versions_of(ENVIRONMENT, environment).get(number=1)
    services.restore(ENVIRONMENT, environment, first, by=administrator)
    again = Environment.objects.get(pk=environment.pk)
    assert (again.name, again.spec.image, again.override_uid_gid) == ("base", IMAGE, False)
    assert list(history.versions_of(ENVIRONMENT, again).values_list("number", flat=True)) == [
        3,
        2,
        1,
    ]


def test_a_name_that_is_taken_meanwhile_cannot_be_restored(
    environment: Environment, administrator: User, home: Project
) -> None:
    update(environment, administrator, name="other")
    EnvironmentFactory(home=home, name="base")
    first = history.versions_of(ENVIRONMENT, environment).get(number=1)
    with pytest.raises(SpecError, match="already exists"):
        services.restore(ENVIRONMENT, environment, first, by=administrator)
    assert AssetVersion.objects.count() == 2


def test_the_last_versions_are_kept(
    environment: Environment, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MAX_VERSIONS", 3)
    for number in range(5):
        update(environment, administrator, description=f"take {number}")
    numbers = history.versions_of(ENVIRONMENT, environment).values_list("number", flat=True)
    assert list(numbers) == [6, 5, 4]


def test_versions_go_with_their_asset(environment: Environment, administrator: User) -> None:
    services.delete(ENVIRONMENT, environment, by=administrator)
    assert not AssetVersion.objects.exists()


def test_a_version_of_any_kind_has_nothing_encrypted_and_no_place(administrator: User) -> None:
    never = {"id", "scope", "cluster", "project", "department", "created_by", "updated_at"}
    for kind in KINDS.values():
        columns = history.columns_of(kind, kind.model())
        assert {"name", "description", kind.column} <= columns.keys()
        assert not columns.keys() & never


def test_secret_values_of_variables_are_not_in_what_differs(
    environment: Environment, administrator: User
) -> None:
    for value in ("s3cr3t-one", "s3cr3t-two"):
        variable = {"name": "API_TOKEN", "value": value}
        update(
            environment,
            administrator,
            document={"image": IMAGE, "environmentVariables": [variable]},
        )
    assert "s3cr3t" not in str(lines(environment, administrator))
    assert lines(environment, administrator)[0] == []


def test_the_page_takes_as_many_queries_for_many_versions(
    environment: Environment, administrator: User
) -> None:
    counts = []
    for times in (1, 5):
        for number in range(times):
            update(environment, administrator, description=f"{times} {number}")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            [str(it.version.by) for it in history.changes(ENVIRONMENT, environment, administrator)]
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 2
