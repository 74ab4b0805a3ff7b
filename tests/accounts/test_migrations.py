"""What migrations make of the rows that are there."""

from importlib import import_module

import pytest
from django.apps import apps

from accounts import tokens
from accounts.models import AccessRole
from accounts.permissions import PERMISSIONS, PREDEFINED_ROLES
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
KINDS = ("environments", "compute-resources", "data-sources", "credentials", "templates")
split_assets = import_module("accounts.migrations.0005_permissions_of_assets")
create_roles = import_module("accounts.migrations.0003_administrators")


def test_a_permission_of_assets_becomes_one_of_each_kind() -> None:
    role = AccessRole.objects.create(
        name="Curator", permissions=["assets.create", "assets.read", "projects.read"]
    )
    key, _ = tokens.make_key(UserFactory.create(), "ci", scopes=["workloads.read"])
    limited, _ = tokens.make_key(UserFactory.create(), "limited", scopes=["projects.read"])
    limited.scopes = ["assets.read"]
    limited.save()
    split_assets.split_permissions(apps, None)
    for row in (role, key, limited):
        row.refresh_from_db()
    expected = {f"{kind}.{action}" for kind in KINDS for action in ("create", "read")}
    assert set(role.permissions) == {*expected, "projects.read"}
    assert set(role.permissions) <= PERMISSIONS
    assert key.scopes == ["workloads.read"]
    assert limited.scopes == sorted(f"{kind}.read" for kind in KINDS)


def test_an_unlimited_key_stays_unlimited() -> None:
    key, _ = tokens.make_key(UserFactory.create(), "ci")
    split_assets.split_permissions(apps, None)
    key.refresh_from_db()
    assert not key.is_limited


def test_the_migration_creates_the_predefined_roles_in_their_order() -> None:
    """A role that is added later goes to the end, so that the ids stay the same."""
    names = [role.name for role in PREDEFINED_ROLES]
    assert names[: len(create_roles.ROLES)] == list(create_roles.ROLES)
