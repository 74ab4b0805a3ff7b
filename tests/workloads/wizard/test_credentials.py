"""Variables whose value comes from a credential: which one is chosen, and which of its keys."""

import re
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from assets.models import Credential
from projects.models import Project
from tests.factories import CredentialFactory, UserFactory
from tests.web import signed_in
from tests.workloads.wizard.browser import HTMX, Wizard
from workloads.plan import plan
from workloads.wizard.choices.offers import Offer
from workloads.wizard.pages.screen import build_screen

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes")]
VARIABLES = "worker-environmentVariables"
PASSWORD = {"kind": "password"}


def cell(number: int, key: str) -> str:
    return f"{VARIABLES}-{number}-{key}"


def options(page: str, name: str) -> dict[str, str]:
    """Value and words of each option of a select; a disabled one has no value."""
    select = re.search(rf'<select[^>]* name="{name}".*?</select>', page, re.DOTALL)
    assert select, f"{name} is not asked by choice"
    its = re.findall(r'<option(?: value="([^"]*)"| disabled)[^>]*>([^<]*)<', select[0])
    return {words: value for value, words in its}


def variables(wizard: Wizard) -> Any:
    return wizard.draft.content.worker.values["environmentVariables"]


@pytest.fixture
def hub(project: Project) -> Credential:
    return CredentialFactory.create(home=project, name="hub", entered={"token": "t"})


@pytest.fixture
def asked(wizard: Wizard) -> Wizard:
    """A variable whose source is a credential, which is still to be chosen."""
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    typed = {cell(0, "name"): "HF_TOKEN", cell(0, "value"): "typed before"}
    return wizard.press("save", **typed, **{cell(0, "source"): "credential"})


def test_a_credential_and_its_key_are_chosen_without_a_script(
    wizard: Wizard, project: Project, hub: Credential
) -> None:
    db = CredentialFactory.create(
        home=project, in_account=True, name="db", spec_json=PASSWORD, entered={"User": "u"}
    )
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    wizard.press("save", **{cell(0, "name"): "HF_TOKEN", cell(0, "source"): "credential"})
    offered = options(wizard.page, cell(0, "value"))
    assert list(offered) == [
        "Select a credential",
        "db (Username &amp; password, Account)",
        f"hub (Generic secret, Project {project.name})",
    ]
    wizard.press("save", **{cell(0, "value"): f"{db.pk}:db"})
    assert list(options(wizard.page, cell(0, "key"))) == ["Select a key", "User", "Password"]
    wizard.press("save", **{cell(0, "key"): "Password"})
    of = {"assetId": str(db.pk), "name": "db", "key": "Password"}
    assert variables(wizard) == [{"name": "HF_TOKEN", "credential": of}]
    wizard.press("save", **{cell(0, "value"): f"{hub.pk}:hub"})
    assert options(wizard.page, cell(0, "key")) == {"token": "token"}
    (variable,) = wizard.plan().require_ready().spec.worker.environment_variables
    assert variable.credential
    assert (variable.credential.asset_id, variable.credential.key) == (hub.pk, "token")


def test_text_typed_for_another_source_is_no_credential(asked: Wizard, hub: Credential) -> None:
    assert variables(asked)[0]["credential"]["name"] == ""
    asked.press("continue")
    assert "The credential is required." in asked.page
    asked.press("save", **{cell(0, "value"): f"{hub.pk}:hub"})
    asked.press("save", **{cell(0, "source"): ""})
    assert variables(asked) == [{"name": "HF_TOKEN", "value": ""}]


def test_the_row_comes_anew_with_a_script(asked: Wizard, hub: Credential) -> None:
    fields = {cell(0, "name"): "HF_TOKEN", cell(0, "source"): "credential"}
    fields |= {VARIABLES: "rows", cell(0, "value"): f"{hub.pk}:hub", "typing": "1"}
    rows = HTMX | {"HTTP_HX_TARGET": f"{VARIABLES}-rows"}
    again = asked.client.post(asked.at(2), fields | {"again": VARIABLES}, **rows)
    assert options(again.content.decode(), cell(0, "key")) == {"token": "token"}
    typed = asked.client.post(asked.at(2), fields, **rows).content.decode()
    assert 'id="wizard-saved"' in typed
    assert f'name="{cell(0, "key")}"' not in typed


def test_a_project_without_credentials_says_so(asked: Wizard, project: Project) -> None:
    assert f"No credential can be used in {project.name} yet." in asked.page


def test_a_credential_that_cannot_be_used_here_says_why(
    asked: Wizard, project: Project, hub: Credential
) -> None:
    asked.press("save", **{cell(0, "value"): f"{hub.pk}:hub"})
    Credential.objects.filter(pk=hub.pk).update(spec_json={"kind": "unheard-of"})
    asked.open(asked.at(2))
    offered = options(asked.page, cell(0, "value"))
    assert offered["hub (no longer valid)"] == ""
    assert offered[f"hub (cannot be used in {project.name})"] == f"{hub.pk}:hub"


def test_this_machine_offers_them_too_but_no_existing_secret(
    wizard: Wizard, project: Project, hub: Credential
) -> None:
    kept = {"kind": "genericSecret", "existingSecret": "kept-there"}
    CredentialFactory.create(home=project, name="kept", spec_json=kept)
    project.cluster.kind = "local"
    project.cluster.save()
    wizard.ready().open(wizard.at(2)).press(f"add:{VARIABLES}")
    assert list(options(wizard.page, cell(0, "source"))) == ["Custom value", "Credential"]
    wizard.press("save", **{cell(0, "name"): "A", cell(0, "source"): "credential"})
    offered = options(wizard.page, cell(0, "value"))
    assert offered["kept (in an existing Secret, which only Kubernetes has)"] == ""


def test_keys_of_an_existing_secret_may_have_to_be_typed(asked: Wizard, project: Project) -> None:
    kept = {"kind": "genericSecret", "existingSecret": "kept-there"}
    row = CredentialFactory.create(home=project, name="kept", spec_json=kept)
    asked.press("save", **{cell(0, "value"): f"{row.pk}:kept"})
    asked.press("save", **{cell(0, "key"): "token"})
    (variable,) = asked.plan().require_ready().spec.worker.environment_variables
    assert variable.secret
    assert (variable.secret.name, variable.secret.key) == ("kept-there", "token")


def test_a_credential_named_by_its_name_or_its_id_alone_stays_so(
    asked: Wizard, hub: Credential
) -> None:
    """As REST and YAML may: by its name alone, or its id."""
    for named in ({"name": "hub"}, {"assetId": str(hub.pk)}):
        draft = asked.draft
        given = [{"name": "HF_TOKEN", "credential": named | {"key": "token"}}]
        draft.document["worker"]["values"] = {"environmentVariables": given}
        draft.save()
        asked.open(asked.at(2)).press("save")
        assert variables(asked) == given
        assert asked.plan().require_ready()


def test_of_a_thousand_the_name_is_searched(asked: Wizard, project: Project) -> None:
    spec = {"kind": "genericSecret", "keys": ["token"]}
    place = {"scope": "project", "cluster": project.cluster, "project": project}
    Credential.objects.bulk_create(
        Credential(name=f"team-{number:04}", spec_json=spec, **place) for number in range(1000)
    )
    asked.open(asked.at(2))
    assert len(re.findall("team-0", asked.page)) == 0
    address = re.search(r'data-suggest="([^"]+)"', asked.page)
    assert address
    answer = asked.client.get(address[1], {"text": "0777"}).content.decode()
    words = f"team-0777 (Generic secret, Project {project.name})"
    assert answer.strip() == f'<option value="team-0777">{words}</option>'
    stranger = signed_in(UserFactory.create())
    assert stranger.get(address[1], {"text": "0777"}).status_code == 404
    asked.press("save", **{cell(0, "value"): "team-0777"})
    assert options(asked.page, cell(0, "key")) == {"token": "token"}
    assert asked.plan().require_ready()
    asked.press("save", **{cell(0, "value"): "nobodys"}).press("continue")
    assert f"No credential &#x27;nobodys&#x27; can be used in {project.name}" in asked.page


def test_many_variables_ask_no_more_queries(
    asked: Wizard, hub: Credential, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    of = {"assetId": str(hub.pk), "name": "hub", "key": "token"}
    draft = asked.draft
    counts = []
    for many in (1, 30):
        given = [{"name": f"V{n}", "credential": of} for n in range(many)]
        draft.document["worker"]["values"] = {"environmentVariables": given}
        with django_assert_max_num_queries(200) as asking:
            build_screen(draft, plan(draft.content, by=asked.user), 2)
        counts.append(len(asking.captured_queries))
    assert counts[1] <= counts[0]


def test_nothing_is_offered_before_a_project_is_chosen(asked: Wizard, hub: Credential) -> None:
    offer = Offer(None, None, by=asked.user)
    assert offer.credentials.rows == []
    assert offer.credentials.suggest("hub") == []
