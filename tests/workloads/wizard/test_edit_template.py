"""A template is changed in the wizard: a draft begins from it, and it takes over what that says."""

import pytest

from assets.models import Environment, Template
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    TemplateFactory,
    UserFactory,
)
from tests.web import DRAWER
from tests.workloads.wizard.browser import Wizard

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


def test_card_and_page_of_a_template_lead_to_use_and_to_edit_it(
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
    wizard.open(f"/workloads/new/?template={template.pk}&project={project.pk}&edit")
    assert "choose Save as template, Update tf-base" in wizard.page
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
    project.members.add(reader)
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
