"""What the wizard asks only where a general setting says so."""

import pytest

from accounts import general
from accounts.models import User
from tests.factories import UserFactory
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.sections.field_rows import affinity, tolerates

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
TOLERATION = "+TOLERATION"
CLOSENESS = "+TOPOLOGY"


@pytest.fixture
def admin() -> User:
    user: User = UserFactory(administrator=True)
    return user


def test_tolerations_and_topology_are_asked_once_they_are_turned_on(
    wizard: Wizard, admin: User
) -> None:
    page = wizard.ready().open(wizard.at(2)).page
    assert TOLERATION not in page
    assert CLOSENESS not in page
    assert "topology-name" not in page
    general.update_settings(by=admin, tolerations=True, topology=False)
    page = wizard.open(wizard.at(2)).page
    assert TOLERATION in page
    assert CLOSENESS not in page
    general.update_settings(by=admin, tolerations=False, topology=True)
    page = wizard.open(wizard.at(2)).page
    assert TOLERATION not in page
    assert CLOSENESS in page
    assert "topology-name" in page


def test_a_draft_that_has_tolerations_shows_them_in_any_case(wizard: Wizard) -> None:
    wizard.ready().save(2, **tolerates(operator="Exists"), **affinity("Required"))
    page = wizard.open(wizard.at(2)).page
    assert TOLERATION in page
    assert CLOSENESS in page
    assert 'name="worker-podAffinity-0-key"' in page
    wizard.press("remove:worker-tolerations:0").press("remove:worker-podAffinity:0")
    wizard.open(wizard.at(2))
    assert TOLERATION not in wizard.page
    assert CLOSENESS not in wizard.page
    assert wizard.plan().is_submittable
