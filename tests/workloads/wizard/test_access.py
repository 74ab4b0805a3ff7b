"""Who finds a draft, and what they get: the page, a part of it, or nothing."""

import pytest
from django.test import Client

from projects.models import Project
from tests.factories import ClusterFactory, EnvironmentFactory, ProjectFactory, UserFactory
from tests.workloads.wizard.browser import HTMX, Wizard
from workloads.models import Draft

pytestmark = pytest.mark.django_db
STEPS = pytest.mark.parametrize("step", [1, 2, 3])


def addresses(draft: Draft) -> list[str]:
    home = f"/workloads/drafts/{draft.pk}"
    steps = [f"{home}/{step}/" for step in (1, 2, 3)]
    return [*steps, f"{home}/2/gallery/worker-compute/", f"{home}/template/"]


def test_the_wizard_asks_for_signing_in(wizard: Wizard) -> None:
    wizard.ready()
    client = Client()
    for address in ["/workloads/new/", *addresses(wizard.draft)]:
        assert client.get(address)["Location"].startswith("/accounts/login/"), address


def test_a_stranger_and_even_an_administrator_find_nothing(wizard: Wizard) -> None:
    wizard.ready()
    for stranger in (UserFactory(), UserFactory(administrator=True)):
        other = Wizard(stranger)
        for address in addresses(wizard.draft):
            assert other.open(address).status == 404, address
        assert other.client.post(wizard.at(1), {"action": "save"}).status_code == 404
        assert other.client.post(f"/workloads/drafts/{wizard.draft.pk}/discard/").status_code == 404


@pytest.mark.parametrize(
    ("headers", "drafts"),
    [
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "image"}, 0),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}, 0),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Purpose": "prefetch;prerender"}, 0),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, 1),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}, 1),
        ({}, 1),
    ],
    ids=["image", "frame", "prefetch", "link elsewhere", "boosted link", "without HTTPS"],
)
def test_only_a_visit_begins_a_draft(wizard: Wizard, headers: dict[str, str], drafts: int) -> None:
    answer = wizard.client.get("/workloads/new/?kind=workspace", headers=headers)
    assert answer.status_code == (302 if drafts else 403)
    assert Draft.objects.count() == drafts


@STEPS
def test_the_owner_gets_the_whole_page(wizard: Wizard, step: int) -> None:
    page = wizard.ready().open(wizard.at(step)).page
    assert wizard.status == 200
    assert "<!doctype html>" in page
    assert 'aria-current="step"' in page


@STEPS
def test_a_change_returns_the_parts_that_depend_on_it(wizard: Wizard, step: int) -> None:
    wizard.ready()
    page = wizard.save(step, name="other", shows=["yaml"])
    assert "<html" not in page
    for part in ("wizard-rail", "wizard-summary", "summary-yaml-block", "wizard-saved"):
        assert f'id="{part}"' in page
    assert "summary-line" not in page, "an output that is not open is not written"
    assert 'type="text"' not in page, "an input someone may be typing in is never swapped"


def test_an_output_that_opens_comes_alone(wizard: Wizard) -> None:
    """The page may show an older version of the draft, and has to keep the number of that one."""
    wizard.ready()
    page = wizard.client.get(wizard.at(2), {"shows": ["line"]}, **HTMX).content.decode()
    assert "submit train" in page
    assert "wizard-saved" not in page
    assert "wizard-summary" not in page


def test_a_choice_that_changes_the_page_answers_with_its_fields(wizard: Wizard) -> None:
    wizard.ready()
    target = HTMX | {"HTTP_HX_TARGET": "wizard-page"}
    response = wizard.client.post(wizard.at(1), {"framework": "TF"}, **target)
    assert 'id="wizard-page"' in response.content.decode()
    assert 'id="wizard-rail"' in response.content.decode()


def test_pages_are_never_kept_by_the_browser(wizard: Wizard) -> None:
    assert "no-store" in wizard.client.get(wizard.ready().at(1))["Cache-Control"]


def test_later_pages_wait_for_a_project(wizard: Wizard, project: Project) -> None:
    ProjectFactory(cluster=project.cluster, members=[wizard.user])
    wizard.open()
    assert wizard.draft.content.project is None
    assert "disabled title=" in wizard.page
    wizard.open(wizard.at(2))
    assert wizard.address == wizard.at(1)


def test_pages_and_actions_that_do_not_exist(wizard: Wizard) -> None:
    wizard.ready()
    assert wizard.open(wizard.at(4)).status == 404
    for action in ("explode", "add:name", "remove:worker-nothing:1", "new:secret:worker"):
        assert wizard.client.post(wizard.at(2), {"action": action}).status_code == 404, action
    assert wizard.client.get(f"{wizard.at(2)}gallery/master-compute/").status_code == 404


def test_another_projects_assets_are_neither_shown_nor_taken(wizard: Wizard) -> None:
    wizard.ready()
    foreign = EnvironmentFactory(name="secret-image", home=ProjectFactory(cluster=ClusterFactory()))
    assert "secret-image" not in wizard.open(wizard.at(2)).page
    page = wizard.save(2, **{"worker-environment": str(foreign.pk)})
    assert "secret-image" not in page
    assert "This environment no longer exists" in page


def test_a_project_of_others_cannot_be_chosen(wizard: Wizard, project: Project) -> None:
    foreign = ProjectFactory(name="theirs", cluster=project.cluster)
    wizard.open()
    assert "theirs" not in wizard.page
    page = wizard.save(1, project=foreign.pk)
    assert "This project does not exist" in page
    assert "theirs" not in page
