"""The values of variables that look secret are on no page and in no answer, and are never lost."""

from typing import Any

import pytest

from projects.models import Project
from spec.formats import documents
from spec.values.variable import MASK, looks_secret
from tests.caller import Caller
from tests.factories import ProjectFactory, TemplateFactory, UserFactory, add_members
from tests.web import signed_in
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads import services
from workloads.models import Workload

pytestmark = pytest.mark.django_db

SECRET = "hush-4711"
VARIABLES = [{"name": "MY_SECRET_TOKEN", "value": SECRET}, {"name": "EPOCHS", "value": "3"}]
OWN = "worker-environmentVariables"


@pytest.fixture
def owner() -> Any:
    return UserFactory()


@pytest.fixture
def project(owner: Any) -> Project:
    return ProjectFactory(name="team-a", gpu_quota=2, members=[owner])


@pytest.fixture
def workload(project: Project, owner: Any) -> Workload:
    wizard = Wizard(owner).ready("first")
    draft = wizard.draft
    draft.document["worker"]["values"] = {"environmentVariables": VARIABLES}
    draft.save()
    wizard.client.post(wizard.at(3), {"action": "create"})
    return Workload.objects.get()


def given(workload: Workload) -> list[Any]:
    """Name and value of each variable that its ranks get."""
    return [(it.name, it.value) for it in workload.spec.worker.environment_variables]


def test_no_page_of_a_workload_shows_what_a_secret_variable_holds(
    workload: Workload, project: Project
) -> None:
    add_members(project, reader := UserFactory())
    client = signed_in(reader)
    for tab in ("", "ranks/", "logs/", "metrics/", "events/", "spec/"):
        page = client.get(f"{workload.get_absolute_url()}{tab}").content.decode()
        assert SECRET not in page, tab
    assert f"MY_SECRET_TOKEN = {MASK}" in page
    assert "EPOCHS = 3" in page


def test_a_copied_draft_hides_a_secret_but_starts_with_it(
    workload: Workload, project: Project
) -> None:
    add_members(project, reader := UserFactory())
    wizard = Wizard(reader)
    services.copy(workload, by=reader)
    for step in (1, 2, 3):
        assert SECRET not in wizard.open(wizard.at(step)).page, step
    wizard.open(wizard.at(2))
    assert Inputs(wizard.page).values[f"{OWN}-0-value"] == MASK
    wizard.press("continue")  # posts what the page holds
    wizard.press("create", name="second")
    second = Workload.objects.get(name="second")
    assert given(second) == [("MY_SECRET_TOKEN", SECRET), ("EPOCHS", "3")]


def test_a_hidden_value_is_not_shown_by_another_name(workload: Workload, project: Project) -> None:
    """A person who copies the workload may not know the value."""
    add_members(project, reader := UserFactory())
    services.copy(workload, by=reader)
    wizard = Wizard(reader)
    wizard.open(wizard.at(2)).press("save", **{f"{OWN}-0-name": "PLAIN"})
    for step in (1, 2, 3):
        assert SECRET not in wizard.open(wizard.at(step)).page, step
    assert SECRET not in str(wizard.draft.document)
    wizard.press("create", name="second")
    assert "*** stands for a hidden value; enter the value" in wizard.page
    assert Workload.objects.count() == 1


def test_a_new_value_replaces_the_one_that_is_not_shown(workload: Workload, owner: Any) -> None:
    services.copy(workload, by=owner)
    wizard = Wizard(owner)
    wizard.open(wizard.at(2)).press("save", **{f"{OWN}-0-value": "changed-1"})
    values = wizard.draft.content.worker.values["environmentVariables"]
    assert [item["value"] for item in values] == ["changed-1", "3"]


def test_a_hidden_secret_of_an_environment_survives_an_edit(project: Project, owner: Any) -> None:
    wizard = Wizard(owner).ready("first")
    environment = wizard.environment
    environment.spec_json |= {"environmentVariables": VARIABLES}
    environment.save()
    client = signed_in(owner)
    address = environment.get_absolute_url()
    assert SECRET not in client.get(address).content.decode()
    page = client.get(f"{address}edit/").content.decode()
    assert SECRET not in page
    assert SECRET not in wizard.open(wizard.at(2)).page
    answer = client.post(f"{address}edit/", Inputs(page).values | {"description": "changed"})
    assert answer.status_code == 302
    environment.refresh_from_db()
    assert environment.description == "changed"
    assert [it["value"] for it in environment.spec_json["environmentVariables"]] == [SECRET, "3"]


def test_a_template_shows_no_secret(project: Project, owner: Any) -> None:
    values = {"environmentVariables": VARIABLES}
    template = TemplateFactory(home=project, draft_json={"worker": {"values": values}})
    assert SECRET not in signed_in(owner).get(template.get_absolute_url()).content.decode()


def test_rest_masks_a_secret_and_refuses_the_mask_by_name(workload: Workload, owner: Any) -> None:
    call = Caller(owner)
    status, answer = call("GET", f"/workloads/distributed/{workload.pk}")
    assert status == 200
    assert SECRET not in str(answer)
    assert answer["spec"]["environmentVariables"][0]["value"] == MASK
    again = {
        "name": "again",
        "projectId": answer["projectId"],
        "clusterId": answer["clusterId"],
        "spec": answer["spec"],
    }
    status, refused = call("POST", "/workloads/distributed", again)
    assert status == 400
    (issue,) = refused["complianceIssues"]
    assert issue["field"] == "spec.environmentVariables.0.value"
    assert "enter the value" in issue["details"]


@pytest.mark.parametrize(
    ("secret", "names"),
    [
        (True, "DB_PASSWORD db_pass PASS MYSQL_PWD KEY_PASSPHRASE HF_TOKEN MY_API_KEY NGC_APIKEY"),
        (True, "AWS_SECRET_ACCESS_KEY AZURE_STORAGE_ACCESS_KEY GOOGLE_CREDENTIALS SIGNING_KEY"),
        (False, "AWS_ACCESS_KEY_ID PWD OLDPWD PASSES BYPASS N_PASSES KEYBOARD EPOCHS"),
    ],
)
def test_names_that_look_like_a_secrets(secret: bool, names: str) -> None:
    assert {name: looks_secret(name) for name in names.split()} == dict.fromkeys(
        names.split(), secret
    )


def test_variables_that_are_no_secrets_are_shown() -> None:
    document = {"worker": {"environmentVariables": VARIABLES, "image": "a"}, "values": [1]}
    masked = documents.mask_secret_values(document)
    assert masked["worker"]["environmentVariables"][1] == VARIABLES[1]
    masked["worker"]["environmentVariables"][0]["value"] = SECRET
    assert masked == document
