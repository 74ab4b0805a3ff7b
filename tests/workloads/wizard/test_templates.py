"""Keep a draft or a workload as a template, and start from one."""

import pytest

from assets.models import Template
from projects.models import Project
from tests.factories import ProjectFactory, TemplateFactory, WorkloadFactory
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard
from workloads.models import Draft, Workload

pytestmark = pytest.mark.django_db


def scope_fields(project: Project) -> dict[str, str]:
    return {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}


def test_a_draft_becomes_a_template(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    address = f"/workloads/drafts/{wizard.draft.pk}/template/"
    values = Inputs(wizard.open(address).page).values
    assert values["name"] == "train"
    fields = {"name": "base", "description": "Our usual", **scope_fields(project)}
    response = wizard.client.post(address, fields)
    assert response["Location"] == wizard.draft.get_absolute_url()
    template = Template.objects.get()
    assert (template.name, template.project) == ("base", project)
    assert (template.draft.name, template.draft.project) == ("", None)
    assert template.draft.worker == wizard.draft.content.worker
    assert template.assets.get(kind="environment").asset_id == wizard.environment.pk


def test_keeping_a_template_in_the_drawer_leaves_the_page_behind(
    wizard: Wizard, project: Project
) -> None:
    wizard.ready()
    address = f"/workloads/drafts/{wizard.draft.pk}/template/"
    drawer = {**HTMX, "HTTP_HX_TARGET": "drawer"}
    assert "<html" not in wizard.client.get(address, **drawer).content.decode()
    refused = wizard.client.post(address, {"name": "", **scope_fields(project)}, **drawer)
    assert refused.status_code == 422
    done = wizard.client.post(address, {"name": "base", **scope_fields(project)}, **drawer)
    assert done.status_code == 204
    assert "drawer-close" in done["HX-Trigger"]
    twice = wizard.client.post(address, {"name": "base", **scope_fields(project)}, **drawer)
    assert "already exists in Project team-a" in twice.content.decode()


def test_a_workload_becomes_a_template(wizard: Wizard, project: Project) -> None:
    wizard.ready().open(wizard.at(3)).press("create")
    workload = Workload.objects.get()
    address = f"/workloads/{workload.pk}/template/"
    wizard.client.post(address, {"name": "again", **scope_fields(project)})
    assert Template.objects.get().draft.values == {"numWorkers": 2}
    foreign = WorkloadFactory(project=ProjectFactory())
    assert wizard.open(f"/workloads/{foreign.pk}/template/").status == 404


def template_with(project: Project, **values: object) -> Template:
    document = {
        "framework": "TF",
        "values": {"numWorkers": 3, "backoffLimit": 2},
        "worker": {"values": {"command": "python tf.py"}},
    }
    template: Template = TemplateFactory(home=project, name="tf-base", draft_json=document)
    return template


def test_the_gallery_offers_a_template_and_choosing_fills_the_form(
    wizard: Wizard, project: Project
) -> None:
    template = template_with(project)
    wizard.open()
    wizard.save(1, name="mine")
    assert "tf-base" in wizard.open(wizard.at(1)).page
    wizard.save(1, template=str(template.pk))
    content = wizard.draft.content
    assert (content.name, content.project, content.framework) == ("mine", project.pk, "TF")
    page = wizard.open(wizard.at(2)).page
    assert Inputs(page).values["numWorkers"] == "3"
    assert "From template tf-base." in page


def test_back_to_scratch_drops_its_values(wizard: Wizard, project: Project) -> None:
    template = template_with(project)
    wizard.open(f"/workloads/new/?template={template.pk}")
    assert wizard.draft.content.worker.values == {"command": "python tf.py"}
    wizard.save(1, template="")
    content = wizard.draft.content
    assert (content.template, content.worker.values, content.framework) == (None, {}, "PyTorch")


def test_a_value_changed_after_its_template_is_the_users_own(
    wizard: Wizard, project: Project
) -> None:
    template = template_with(project)
    wizard.open(f"/workloads/new/?template={template.pk}")
    wizard.save(2, numWorkers="5")
    origins = wizard.plan().origins
    assert (origins["numWorkers"], origins["backoffLimit"]) == ("user", "template tf-base")


def test_a_template_of_another_project_fills_nothing(wizard: Wizard) -> None:
    foreign = template_with(ProjectFactory())
    wizard.open(f"/workloads/new/?template={foreign.pk}")
    wizard.save(1, template=str(foreign.pk))
    assert wizard.draft.content.worker.values == {}
    assert "python tf.py" not in wizard.open(wizard.at(2)).page


def test_a_new_template_begins_in_the_wizard(wizard: Wizard) -> None:
    page = wizard.open("/templates/").page
    begin = "/workloads/new/?rules"
    assert f'<a class="btn btn-primary upper" href="{begin}">+New template</a>' in page
    assert "Save as template" in wizard.open(begin).page


def test_a_new_template_is_given_its_rules_and_is_no_workload(
    wizard: Wizard, project: Project
) -> None:
    wizard.open("/workloads/new/?rules")
    wizard.save(1, project=str(project.pk), cluster=str(project.cluster_id))
    page = wizard.open(wizard.at(1)).page
    marked = page.split('aria-current="page"')[0].rsplit("<a", 1)[1]
    assert 'href="/templates/"' in marked, "in the navigation"
    assert "<h1>New template</h1>" in " ".join(page.split())
    assert "Create training" not in page
    assert 'name="name"' not in page
    assert "summary-line" not in page
    wizard.save(
        2, numWorkers="3", **{"rule-numWorkers": "locked", "rule-numWorkers-why": "Tested."}
    )
    address = f"/workloads/drafts/{wizard.draft.pk}/template/"
    answer = wizard.client.post(address, {"name": "three", **scope_fields(project)})
    assert answer["Location"] == "/templates/"
    made = Template.objects.get(name="three")
    assert [it.model_dump(exclude_defaults=True) for it in made.draft.rules or ()] == [
        {"field": "numWorkers", "locked": True, "why": "Tested."}
    ]
    assert not Draft.objects.exists()


def test_a_template_names_its_assets(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    document = wizard.draft.content.model_dump(mode="json", by_alias=True)
    template = TemplateFactory(home=project, draft_json=document | {"name": "", "project": None})
    page = wizard.open(f"/templates/{template.pk}/").page
    assert "environment: env-train" in page
    assert str(wizard.draft.content.worker.assets["environment"]) not in page
