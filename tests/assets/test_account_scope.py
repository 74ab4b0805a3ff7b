"""Assets of the whole account: offered on every cluster, made by administrators alone."""

from typing import Any

import pytest
from django.db import IntegrityError

from accounts.models import User
from assets import services
from assets.environment.kind import ENVIRONMENT
from assets.models import ComputeResource, Environment, Template
from clusters.models import Cluster
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.problems.errors import SpecError
from tests.assets import posts
from tests.factories import EnvironmentFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads import demo
from workloads.plan import plan

pytestmark = pytest.mark.django_db
ACCOUNT = {"cluster": "account", "scope": "account"}


@pytest.fixture
def user() -> User:
    return UserFactory()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory(members=[user])


@pytest.fixture
def other_project(user: User) -> Project:
    """On another cluster."""
    return ProjectFactory(members=[user])


@pytest.fixture
def shared() -> Environment:
    environment: Environment = EnvironmentFactory(in_account=True, name="shared")
    return environment


def test_an_account_asset_is_offered_on_every_cluster_and_to_members_alone(
    user: User, project: Project, other_project: Project, shared: Environment
) -> None:
    for each in (project, other_project):
        assert shared in Environment.objects.visible_to(user).usable_in(each)
    assert shared not in Environment.objects.visible_to(UserFactory())
    page = signed_in(user).get("/environments/?scope=account").content.decode()
    assert "shared" in page
    (card,) = signed_in(user).get("/environments/").context["cards"]
    assert ("Account", "neutral") in card["chips"]


def test_a_draft_that_goes_to_another_cluster_keeps_its_account_assets(
    user: User, project: Project, other_project: Project, shared: Environment
) -> None:
    own = EnvironmentFactory(home=project)
    for environment, stays in ((shared, True), (own, False)):
        worker = ReplicaDraft(assets={"environment": environment.pk})
        draft = WorkloadDraft(
            name="train", cluster=other_project.cluster_id, project=other_project.pk
        )
        draft.worker = worker
        gone = {problem.field for problem in plan(draft, by=user).problems}
        assert ("worker.environment" not in gone) is stays


def test_administrators_create_it_and_members_do_not(user: User, project: Project) -> None:
    post = posts.environment(project, **ACCOUNT)
    response = signed_in(user).post("/environments/new/", post)
    assert response.status_code == 422
    assert 'value="account"' not in signed_in(user).get("/environments/new/").content.decode()
    administrator = UserFactory(administrator=True)
    response = signed_in(administrator).post("/environments/new/", post)
    environment = Environment.objects.get()
    assert response["Location"] == environment.get_absolute_url()
    assert (environment.scope, environment.cluster) == ("account", None)
    page = signed_in(user).get(environment.get_absolute_url()).content.decode()
    assert "All clusters" in page
    assert signed_in(user).get(f"/environments/{environment.pk}/edit/").status_code == 403


def test_the_form_of_an_account_asset_names_its_scope(
    shared: Environment,
) -> None:
    client = signed_in(UserFactory(administrator=True))
    form = client.get(f"/environments/{shared.pk}/edit/").context["form"]
    assert (form["cluster"].value, form["scope"].value) == ("account", "account")
    assert ("account", "All clusters") in form["cluster"].options
    form = client.get("/environments/new/?cluster=account").context["form"]
    assert form["scope"].groups == [("Account", [("account", "Account")])]


def test_a_project_is_not_of_all_clusters(project: Project) -> None:
    post = posts.environment(project, cluster="account")
    response = signed_in(UserFactory(administrator=True)).post("/environments/new/", post)
    assert response.status_code == 422
    assert "belongs to the cluster" in response.content.decode()


def test_the_account_is_not_of_a_single_cluster(project: Project) -> None:
    post = posts.environment(project, scope="account")
    response = signed_in(UserFactory(administrator=True)).post("/environments/new/", post)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["cluster"]
    assert not Environment.objects.exists()


def test_the_name_of_an_account_asset_is_unique_in_the_account_alone(
    project: Project, shared: Environment
) -> None:
    by = UserFactory(administrator=True)
    good: dict[str, Any] = {"by": by, "name": "shared", "document": {"image": "x:1"}}
    services.create(ENVIRONMENT, scope=OwningScope(project), **good)
    with pytest.raises(SpecError, match="'shared' already exists in Account"):
        services.create(ENVIRONMENT, scope=OwningScope(), **good)


def test_the_database_refuses_a_second_account_asset_of_a_name(shared: Environment) -> None:
    with pytest.raises(IntegrityError):
        EnvironmentFactory(in_account=True, name="shared")


def test_the_database_refuses_an_asset_of_a_cluster_without_a_cluster() -> None:
    with pytest.raises(IntegrityError):
        EnvironmentFactory(cluster=None)


def test_demo_assets_are_of_the_account_and_serve_the_next_cluster(user: User) -> None:
    UserFactory(administrator=True)
    project = ProjectFactory()
    cluster: Cluster = project.cluster
    department = project.department
    project.delete()
    demo.make(cluster, department)
    for model in (Environment, ComputeResource, Template):
        assert model.objects.exists()
        assert not model.objects.exclude(scope="account", cluster=None).exists()
    elsewhere = ProjectFactory(members=[user])
    (template,) = Template.objects.visible_to(user).usable_in(elsewhere)
    draft = template.draft
    draft.name = "train"
    draft.cluster = elsewhere.cluster_id
    draft.project = elsewhere.pk
    assert plan(draft, by=user).is_submittable


def test_the_question_to_delete_a_shared_asset_is_refused_to_members(
    user: User, project: Project, shared: Environment
) -> None:
    response = signed_in(user).get(f"/environments/{shared.pk}/delete/")
    assert response.status_code == 403
    assert "environments.delete" in response.content.decode()
