"""A project that is created from the wizard is chosen there, and the rest of the draft stays."""

import json

import pytest

from projects.models import Project
from tests.factories import ClusterFactory, UserFactory, add_members
from tests.projects.posts import project_form
from tests.web import DRAWER
from tests.workloads.wizard.browser import Wizard

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(project: Project) -> Wizard:
    user = UserFactory(administrator=True)
    add_members(project, user)
    return Wizard(user).ready("kept")


def test_only_those_who_may_create_projects_are_offered_it(wizard: Wizard, admin: Wizard) -> None:
    wizard.ready()
    assert "+NEW PROJECT" in admin.open(admin.at(1)).page
    assert "+NEW PROJECT" not in wizard.open(wizard.at(1)).page


def test_the_drawer_says_which_project_the_wizard_gets(admin: Wizard, project: Project) -> None:
    address = f"/projects/new/?cluster={project.cluster_id}&drawer=1"
    form = admin.client.get(address, **DRAWER)
    assert form.context["form"]["cluster"].value == str(project.cluster_id)
    post = project_form(cluster=project.cluster, name="fresh")
    told = json.loads(admin.client.post(address, post, **DRAWER)["HX-Trigger"])
    fresh = Project.objects.get(name="fresh")
    place = {"cluster": str(fresh.cluster_id)}
    assert told["asset-created"] == {"kind": "project", "id": str(fresh.pk), "slot": ""} | place
    admin.save(1, project=str(fresh.pk), **place)
    assert (admin.draft.content.project, admin.draft.content.name) == (fresh.pk, "kept")


def test_without_a_script_its_page_leads_back_with_it_chosen(admin: Wizard) -> None:
    elsewhere = ClusterFactory()
    admin.open(admin.at(1)).press("new:project", name="typed")
    assert admin.address == "/projects/new/"
    post = project_form(cluster=elsewhere, name="fresh")
    admin.open(admin.client.post(admin.full_address, post)["Location"])
    assert admin.full_address == admin.at(1)
    content = admin.draft.content
    assert content.project == Project.objects.get(name="fresh").pk
    assert (content.cluster, content.name) == (elsewhere.pk, "typed")
    assert content.worker.assets


def test_an_address_does_not_choose_an_invisible_project(wizard: Wizard) -> None:
    wizard.ready()
    before = wizard.draft.content.project
    other = Project.objects.create(
        name="theirs", cluster=ClusterFactory(), department=Project.objects.get().department
    )
    assert wizard.open(f"{wizard.at(1)}?project={other.pk}").status == 200
    assert wizard.draft.content.project == before
