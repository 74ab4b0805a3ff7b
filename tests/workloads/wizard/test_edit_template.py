"""A template is changed in the wizard: a draft begins from it, and it takes over what that says."""

import pytest

from assets.models import Environment, Template
from audit.models import AuditEntry
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    TemplateFactory,
    UserFactory,
    add_members,
)
from tests.web import DRAWER
from tests.workloads.wizard.browser import Wizard
from workloads.models import Draft

pytestmark = pytest.mark.django_db


@pytest.fixture
def template(project: Project) -> Template:
    """One that names an environment, made by the verb that everyone uses."""
    environment = EnvironmentFactory(home=project, name="env-base")
    document = {
        "values": {"numWorkers": 3},
        "worker": {"assets": {"environment": str(environment.pk)}},
    }
    made: Template = TemplateFactory(home=project, name="tf-base", draft_json=document)
    made.assets.create(role="worker", kind="environment", asset_id=environment.pk)
    return made


def save_address(wizard: Wizard) -> str:
    return f"/workloads/drafts/{wizard.draft.pk}/template/"


def test_card_and_page_of_a_template_link_to_use_and_edit(
    wizard: Wizard, template: Template
) -> None:
    begin = f"/workloads/new/?template={template.pk}&amp;project={template.project_id}"
    for address in ("/templates/", f"/templates/{template.pk}/"):
        page = wizard.open(address).page
        assert f'href="{begin}"' in page
        assert f'href="{begin}&amp;edit"' in page


def test_a_template_takes_over_what_the_draft_says(
    wizard: Wizard, project: Project, template: Template
) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&project={project.pk}")
    compute = ComputeResourceFactory(home=project, name="large")
    wizard.save(2, numWorkers="5", **{"worker-compute": str(compute.pk)})
    assert "Update tf-base" in wizard.open(save_address(wizard)).page
    answer = wizard.client.post(save_address(wizard), {"action": "update"}, **DRAWER)
    assert answer.status_code == 204
    template.refresh_from_db()
    assert (template.name, template.project) == ("tf-base", project)
    assert (template.draft.values["numWorkers"], template.draft.template) == (5, None)
    links = set(template.assets.values_list("kind", "asset_id"))
    environment = Environment.objects.get(name="env-base")
    assert links == {("environment", environment.pk), ("compute", compute.pk)}


def test_an_asset_that_it_no_longer_names_is_no_longer_used(
    wizard: Wizard, project: Project, template: Template
) -> None:
    other = EnvironmentFactory(home=project, name="other")
    wizard.open(f"/workloads/new/?template={template.pk}")
    wizard.save(2, **{"worker-environment": str(other.pk)})
    wizard.client.post(save_address(wizard), {"action": "update"})
    assert [link.asset_id for link in template.assets.all()] == [other.pk]


def test_a_reader_of_a_template_does_not_update_it(project: Project) -> None:
    shared = TemplateFactory(in_cluster=True, home=project, name="shared", draft_json={})
    reader = UserFactory()
    add_members(project, reader)
    wizard = Wizard(reader).open(f"/workloads/new/?template={shared.pk}")
    assert "Update shared" not in wizard.open(save_address(wizard)).page
    assert wizard.client.post(save_address(wizard), {"action": "update"}).status_code == 403
    assert "&amp;edit" not in wizard.open("/templates/").page
    shared.refresh_from_db()
    assert not shared.draft.values


def test_a_draft_from_scratch_has_no_template_to_update(wizard: Wizard) -> None:
    wizard.ready()
    assert "Or save a new template" not in wizard.open(save_address(wizard)).page
    assert wizard.client.post(save_address(wizard), {"action": "update"}).status_code == 404


def test_every_page_says_which_template_is_edited_and_offers_no_workload(
    wizard: Wizard, template: Template
) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&project={template.project_id}&edit")
    wizard.save(1, name="named")
    for step in (1, 2, 3):
        page = wizard.open(wizard.at(step)).page
        assert "<h1>Template tf-base</h1>" in " ".join(page.split())
        assert "Update template" in page
        assert "Create training" not in page
    wizard.open(f"/workloads/new/?template={template.pk}")
    assert "Template tf-base</h1>" not in wizard.page
    assert "Update template" not in wizard.page


def test_the_end_of_editing_leads_back_to_the_gallery(wizard: Wizard, template: Template) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&edit")
    wizard.save(2, numWorkers="7")
    answer = wizard.client.post(save_address(wizard), {"action": "update"}, follow=True)
    assert answer.request["PATH_INFO"] == "/templates/"
    assert "The template tf-base was updated." in answer.content.decode()
    template.refresh_from_db()
    assert template.draft.values["numWorkers"] == 7
    assert not Draft.objects.exists()


def test_a_refused_update_of_a_template_keeps_the_draft(wizard: Wizard, template: Template) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&edit")
    Template.objects.filter(pk=template.pk).update(name="")
    answer = wizard.client.post(save_address(wizard), {"action": "update"}, follow=True)
    page = answer.content.decode()
    assert "was not updated: " in page
    assert Draft.objects.filter(edits=template).exists()
    assert AuditEntry.objects.filter(verb="update").count() == 0


def test_a_reader_who_asks_to_edit_only_uses_the_template(project: Project) -> None:
    shared = TemplateFactory(in_cluster=True, home=project, name="shared", draft_json={})
    reader = UserFactory()
    add_members(project, reader)
    wizard = Wizard(reader).open(f"/workloads/new/?template={shared.pk}&edit")
    assert "Update template" not in wizard.page
    assert wizard.draft.edits is None


def test_the_draft_of_a_template_is_listed_by_the_templates_name(
    wizard: Wizard, project: Project, template: Template
) -> None:
    wizard.open(f"/workloads/new/?template={template.pk}&project={project.pk}&edit")
    wizard.save(2, numWorkers="5")
    assert ">Template tf-base</a>" in wizard.open("/workloads/").page


@pytest.mark.parametrize("document", [{"gone": 1}, {"worker": 3}, []])
def test_a_template_of_old_rules_is_put_right_by_editing_it(
    wizard: Wizard, project: Project, template: Template, document: object
) -> None:
    Template.objects.filter(pk=template.pk).update(draft_json=document)
    assert "No longer valid" in wizard.open("/templates/").page
    wizard.open(f"/workloads/new/?template={template.pk}&project={project.pk}&edit")
    wizard.save(2, numWorkers="5")
    answer = wizard.client.post(save_address(wizard), {"action": "update"}, **DRAWER)
    assert answer.headers["HX-Redirect"] == "/templates/"
    template.refresh_from_db()
    assert template.draft.values["numWorkers"] == 5
    assert "No longer valid" not in wizard.open("/templates/").page
