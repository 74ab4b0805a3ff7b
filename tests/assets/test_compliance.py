"""Galleries say which assets no policy admits any more."""

import pytest
from django.test import Client

from accounts.models import User
from assets.compliance import find_unadmitted, find_violations
from assets.data_source.kind import DATA_SOURCE
from assets.environment.kind import ENVIRONMENT
from policies.models import find_rules
from projects.models import Project
from spec.kind import WorkloadKind
from tests.factories import (
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    UserFactory,
    add_members,
)
from tests.policies.examples import Tree, make_policy, nest, rule

pytestmark = pytest.mark.django_db
PINNED: Tree = nest("image", {"startsWith": "reg.example.com/"})


@pytest.fixture
def owner() -> User:
    return UserFactory()


@pytest.fixture
def project(owner: User) -> Project:
    return ProjectFactory(members=[owner])


def pin_image_of_every_kind(project: Project) -> None:
    for kind in WorkloadKind:
        rules: Tree = {"worker": PINNED, "master": PINNED} if kind.is_gang else PINNED
        make_policy(project, {"rules": rules}, kind=kind)


def test_the_gallery_says_that_no_policy_admits_an_asset(owner: User, project: Project) -> None:
    EnvironmentFactory(home=project, name="elsewhere")
    EnvironmentFactory(home=project, name="pinned", spec_json={"image": "reg.example.com/a"})
    pin_image_of_every_kind(project)
    client = Client()
    client.force_login(owner)
    page = client.get("/environments/").content.decode()
    words = "No project that you see may use it: image must start with reg.example.com/"
    assert page.count(f'title="Issue: {words}') == 1


def test_an_asset_that_one_kind_of_workload_may_use_is_admitted(
    owner: User, project: Project
) -> None:
    environment = EnvironmentFactory(home=project)
    make_policy(project, {"rules": {"worker": PINNED, "master": PINNED}})
    assert find_unadmitted(ENVIRONMENT, [environment], owner) == {}


def test_an_asset_that_the_master_may_use_is_admitted(owner: User, project: Project) -> None:
    environment = EnvironmentFactory(home=project)
    for kind in WorkloadKind:
        make_policy(project, {"rules": {"worker": PINNED} if kind.is_gang else PINNED}, kind=kind)
    assert find_unadmitted(ENVIRONMENT, [environment], owner) == {}


def test_projects_of_others_do_not_admit_an_asset(owner: User, project: Project) -> None:
    environment = EnvironmentFactory(home=project, in_account=True)
    pin_image_of_every_kind(project)
    assert environment.pk in find_unadmitted(ENVIRONMENT, [environment], owner)
    free = ProjectFactory()
    assert environment.pk in find_unadmitted(ENVIRONMENT, [environment], owner)
    add_members(free, owner)
    owner = User.objects.get(pk=owner.pk)
    assert find_unadmitted(ENVIRONMENT, [environment], owner) == {}


def test_a_data_source_breaks_the_rules_of_its_kind_of_storage(project: Project) -> None:
    source = DataSourceFactory(home=project)
    make_policy(project, rule("storage.nfs.instances", canAdd=False))
    rules = find_rules(project, WorkloadKind.DISTRIBUTED)
    (problem,) = find_violations(DATA_SOURCE, source, rules, "worker")
    assert (problem.field, problem.rule) == ("worker.storage.nfs.0", "canAdd")
    assert find_violations(DATA_SOURCE, source, rules, "master") == []
