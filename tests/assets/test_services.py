"""The verbs that forms, the API and the demo data share."""

import pytest
from django.core.exceptions import PermissionDenied

from assets import services
from assets.compute.kind import COMPUTE
from assets.environment.kind import ENVIRONMENT
from assets.models import ComputeResource, Environment, Template
from assets.template.kind import TEMPLATE
from core.deletion import InUse
from projects.scopes import OwningScope
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.problems.errors import SpecError
from tests.assets.links import named
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
IMAGE = {"image": "python:3.12"}


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        services.create(
            ENVIRONMENT,
            by=UserFactory(administrator=True),
            name=" ",
            scope=OwningScope(ProjectFactory()),
            document={"image": "", "color": "red"},
        )
    assert {problem.field for problem in caught.value.problems} == {"name", "image", "color"}


def test_members_make_assets_in_their_project_and_nowhere_else() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    services.create(ENVIRONMENT, by=user, name="mine", scope=OwningScope(project), document=IMAGE)
    for place in (
        OwningScope(project.cluster),
        OwningScope(project.department),
        OwningScope(ProjectFactory()),
    ):
        with pytest.raises(PermissionDenied):
            services.create(ENVIRONMENT, by=user, name="other", scope=place, document=IMAGE)


def test_the_later_of_two_concurrent_assets_with_one_name_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = EnvironmentFactory()
    monkeypatch.setattr(services, "_is_name_taken", lambda kind, asset: False)
    with pytest.raises(SpecError, match="already exists"):
        services.create(
            ENVIRONMENT,
            by=UserFactory(administrator=True),
            name=taken.name,
            scope=OwningScope(taken.project),
            document=IMAGE,
        )
    assert Environment.objects.count() == 1


def test_an_update_changes_what_is_given_alone() -> None:
    environment: Environment = EnvironmentFactory(description="old", framework="TF")
    services.update(ENVIRONMENT, environment, by=UserFactory(administrator=True), description="new")
    environment.refresh_from_db()
    assert (environment.description, environment.framework) == ("new", "TF")
    with pytest.raises(PermissionDenied):
        services.update(ENVIRONMENT, environment, by=UserFactory(), name="stolen")
    with pytest.raises(PermissionDenied):
        services.delete(ENVIRONMENT, environment, by=UserFactory())


def test_a_copy_gets_a_name_that_is_free() -> None:
    first: Environment = EnvironmentFactory(name="base")
    assert services.free_name(ENVIRONMENT, first) == "base-copy"
    user = UserFactory(administrator=True)
    place = OwningScope.from_asset(first)
    twin = services.duplicate(ENVIRONMENT, first, by=user, name="base-copy", scope=place)
    assert twin.pk != first.pk
    assert services.free_name(ENVIRONMENT, first) == "base-copy-2"
    longest: Environment = EnvironmentFactory(name="n" * services.MAX_NAME_LENGTH)
    assert len(services.free_name(ENVIRONMENT, longest)) <= services.MAX_NAME_LENGTH


def test_a_template_forgets_the_name_and_remembers_the_assets() -> None:
    environment = EnvironmentFactory()
    compute = ComputeResourceFactory()
    draft = WorkloadDraft(
        name="train",
        project=environment.project.pk,
        worker=ReplicaDraft(assets={"environment": environment.pk, "compute": compute.pk}),
        master=ReplicaDraft(assets={"environment": environment.pk}),
    )
    template = services.create(
        TEMPLATE,
        by=UserFactory(administrator=True),
        name="start",
        scope=OwningScope(environment.project),
        document=draft.model_dump(mode="json", by_alias=True),
    )
    template = Template.objects.get(pk=template.pk)
    assert (template.draft.name, template.draft.project) == ("", None)
    assert set(template.assets.values_list("role", "kind", "asset_id")) == {
        ("worker", "environment", environment.pk),
        ("worker", "compute", compute.pk),
        ("master", "environment", environment.pk),
    }


def test_a_template_with_a_taken_name_leaves_nothing_behind() -> None:
    taken = TemplateFactory()
    with pytest.raises(SpecError, match="already exists"):
        services.create(
            TEMPLATE,
            by=UserFactory(administrator=True),
            name=taken.name,
            scope=OwningScope(taken.project),
            document={},
        )
    assert Template.objects.count() == 1


def test_an_asset_in_use_is_not_deleted_and_names_its_users() -> None:
    compute: ComputeResource = ComputeResourceFactory()
    named(TemplateFactory(home=compute.project, name="start"), compute)
    with pytest.raises(InUse, match="is used by template start"):
        services.delete(COMPUTE, compute, by=UserFactory(administrator=True))


def test_a_template_of_foreign_assets_does_not_hold_them() -> None:
    """Or their owners would see it, and could not delete a compute resource that it names."""
    user = UserFactory()
    chosen = {"environment": EnvironmentFactory().pk, "compute": ComputeResourceFactory().pk}
    foreign = ReplicaDraft(assets=chosen)
    template = services.create(
        TEMPLATE,
        by=user,
        name="base",
        scope=OwningScope(ProjectFactory(members=[user])),
        document=WorkloadDraft(worker=foreign).model_dump(mode="json", by_alias=True),
    )
    assert not template.assets.exists()
