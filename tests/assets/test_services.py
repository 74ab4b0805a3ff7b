"""The verbs that forms, the API and the demo data share."""

import pytest
from django.core.exceptions import PermissionDenied

from assets import services
from assets.models import Environment, Template
from assets.scopes import Place
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.errors import SpecError
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
        services.create_environment(
            by=UserFactory(administrator=True),
            name=" ",
            place=Place(ProjectFactory()),
            document={"image": "", "color": "red"},
        )
    assert {problem.field for problem in caught.value.problems} == {"name", "image", "color"}


def test_members_make_assets_in_their_project_and_nowhere_else() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    services.create_environment(by=user, name="mine", place=Place(project), document=IMAGE)
    for place in (Place(project.cluster), Place(project.department), Place(ProjectFactory())):
        with pytest.raises(PermissionDenied):
            services.create_environment(by=user, name="other", place=place, document=IMAGE)


def test_of_two_at_once_with_one_name_the_later_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = EnvironmentFactory()
    monkeypatch.setattr(services, "_same_name", lambda asset: False)
    with pytest.raises(SpecError, match="is taken"):
        services.create_environment(
            by=UserFactory(administrator=True),
            name=taken.name,
            place=Place(taken.project),
            document=IMAGE,
        )
    assert Environment.objects.count() == 1


def test_an_update_changes_what_is_given_alone() -> None:
    environment = EnvironmentFactory(description="old", framework="TF")
    services.update(environment, by=UserFactory(administrator=True), description="new")
    environment.refresh_from_db()
    assert (environment.description, environment.framework) == ("new", "TF")
    with pytest.raises(PermissionDenied):
        services.update(environment, by=UserFactory(), name="stolen")
    with pytest.raises(PermissionDenied):
        services.delete(environment, by=UserFactory())


def test_a_copy_gets_a_name_that_is_free() -> None:
    first = EnvironmentFactory(name="base")
    assert services.free_name(first) == "base-copy"
    user, place = UserFactory(administrator=True), Place(first.project)
    twin = services.duplicate(first, by=user, name=services.free_name(first), place=place)
    assert twin.pk != first.pk
    assert services.free_name(first) == "base-copy-2"
    assert len(services.free_name(EnvironmentFactory(name="n" * 63))) <= services.LONGEST_NAME


def test_a_template_forgets_the_name_and_remembers_the_assets() -> None:
    environment, compute = EnvironmentFactory(), ComputeResourceFactory()
    draft = WorkloadDraft(
        name="train",
        project=environment.project.pk,
        worker=ReplicaDraft(environment=environment.pk, compute=compute.pk),
        master=ReplicaDraft(environment=environment.pk),
    )
    template = services.create_template(
        by=UserFactory(administrator=True),
        name="start",
        place=Place(environment.project),
        draft=draft,
    )
    template = Template.objects.get(pk=template.pk)
    assert (template.draft.name, template.draft.project) == ("", None)
    assert list(template.environments.all()) == [environment]
    assert list(template.compute_resources.all()) == [compute]


def test_a_template_with_a_taken_name_leaves_nothing_behind() -> None:
    taken = TemplateFactory()
    with pytest.raises(SpecError, match="is taken"):
        services.create_template(
            by=UserFactory(administrator=True),
            name=taken.name,
            place=Place(taken.project),
            draft=WorkloadDraft(),
        )
    assert Template.objects.count() == 1


def test_who_uses_it_is_named_when_it_cannot_go() -> None:
    compute = ComputeResourceFactory()
    TemplateFactory(home=compute.project, name="start").compute_resources.add(compute)
    with pytest.raises(services.InUse, match="template start") as caught:
        services.delete(compute, by=UserFactory(administrator=True))
    assert caught.value.templates == ["start"]


def test_a_template_of_foreign_assets_does_not_hold_them() -> None:
    """Or their owners would see it, and could not delete a compute resource that it names."""
    user = UserFactory()
    foreign = ReplicaDraft(environment=EnvironmentFactory().pk, compute=ComputeResourceFactory().pk)
    template = services.create_template(
        by=user,
        name="base",
        place=Place(ProjectFactory(members=[user])),
        draft=WorkloadDraft(worker=foreign),
    )
    assert not template.environments.exists()
    assert not template.compute_resources.exists()
