"""A draft outlives everything: reload, another tab, wrong answers. It judges only what was left."""

import pytest
from django.contrib.messages import get_messages

from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory, remove_members
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard
from workloads.models import Draft
from workloads.wizard import drafts

pytestmark = pytest.mark.django_db


def test_the_only_project_is_chosen_from_the_start(wizard: Wizard, project: Project) -> None:
    wizard.open()
    content = wizard.draft.content
    assert (content.cluster, content.project) == (project.cluster_id, project.pk)


def test_the_address_may_name_the_project(wizard: Wizard, project: Project) -> None:
    other = ProjectFactory(cluster=project.cluster, members=[wizard.user])
    wizard.open(f"/workloads/new/?project={other.pk}")
    assert wizard.draft.content.project == other.pk
    assert wizard.open("/workloads/new/?project=x&template=y").status == 200


def test_opening_the_wizard_again_makes_no_second_empty_draft(wizard: Wizard) -> None:
    wizard.open()
    wizard.open()
    assert Draft.objects.count() == 1
    wizard.type(1, name="mine")
    wizard.open()
    assert Draft.objects.count() == 2, "what was typed is never thrown away"


def test_another_tab_shows_what_was_entered_in_a_draft(wizard: Wizard) -> None:
    wizard.open()
    wizard.save(1, name="Not Good")
    other = Wizard(wizard.user).open(wizard.at(1))
    assert Inputs(other.page).values["name"] == "Not Good"


def test_the_later_of_two_tabs_wins_each_field_of_a_draft(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(2, **{"worker-command": "first"})
    Wizard(wizard.user).open(wizard.at(2)).save(2, **{"worker-args": "second"})
    wizard.save(2, numWorkers="3")
    values = wizard.draft.content.worker.values
    assert (values["command"], values["args"]) == ("first", "second")


def test_fields_that_nobody_left_say_nothing_wrong(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.open(wizard.at(2)).page
    assert "errorlist" not in page
    assert "Select an environment." in page, "it is on the list of what is still open"


def test_an_empty_number_of_workers_is_one_and_not_called_required(wizard: Wizard) -> None:
    page = wizard.ready().open(wizard.at(2)).page
    label = page.split('for="numWorkers"', 1)[0].rsplit("<label", 1)[1]
    assert "field-required" not in label
    assert "1 to 512. Default: 1." in page
    wizard.save(2, numWorkers="")
    assert wizard.plan().require_ready().spec.num_workers == 1


def test_leaving_a_field_judges_that_field_only(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.save(2, numWorkers="0")
    assert page.count('class="errorlist"') == 1
    assert 'id="numWorkers-notes" data-for="numWorkers" data-invalid' in page


def test_typing_is_kept_but_not_judged(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.type(2, numWorkers="0")
    assert "errorlist" not in page
    assert wizard.draft.content.values["numWorkers"] == 0


def test_a_judged_field_is_judged_again_while_typing(wizard: Wizard) -> None:
    wizard.open()
    wizard.save(2, numWorkers="0")
    assert "errorlist" not in wizard.type(2, numWorkers="2")
    assert "errorlist" in wizard.type(2, numWorkers="600")


def test_a_free_name_is_said_to_be_free(wizard: Wizard, project: Project) -> None:
    WorkloadFactory(project=project, name="taken")
    wizard.open()
    assert "Free in team-a" in wizard.type(1, name="free")
    page = wizard.save(1, name="taken")
    assert "Free in team-a" not in page
    assert "already exists in team-a; enter a different name" in page


def test_another_cluster_asks_for_another_project(wizard: Wizard, project: Project) -> None:
    elsewhere = ProjectFactory(members=[wizard.user])
    wizard.open(f"/workloads/new/?project={project.pk}")
    wizard.save(1, cluster=str(elsewhere.cluster_id))
    assert wizard.draft.content.project is None
    page = wizard.open(wizard.at(1)).page
    assert elsewhere.name in page
    assert "Select a project." in page


def test_the_steps_of_the_wizard_show_where_the_draft_stands(wizard: Wizard) -> None:
    wizard.open().open(wizard.at(2))
    wizard.save(1, name="good")
    page = wizard.save(2, numWorkers="0")
    assert "1 error" in page
    assert page.count("is-done") == 1
    wizard.press("goto:1")
    assert wizard.address == wizard.at(1)


def test_drafts_to_resume_are_those_with_something_in_them(wizard: Wizard) -> None:
    wizard.open()
    assert drafts.unfinished_drafts(wizard.user) == []
    wizard.save(1, name="later")
    wizard.open(wizard.at(2))
    (draft,) = drafts.unfinished_drafts(wizard.user)
    assert str(draft) == "later"
    assert draft.get_absolute_url() == wizard.at(2)


def test_a_draft_can_be_discarded(wizard: Wizard) -> None:
    wizard.ready()
    response = wizard.client.post(f"/workloads/drafts/{wizard.draft.pk}/discard/")
    assert response["Location"] == "/workloads/"
    assert [str(m) for m in get_messages(response.wsgi_request)] == [
        "The draft train was discarded."
    ]
    assert not Draft.objects.exists()


def test_the_list_of_drafts_loses_the_discarded_one(wizard: Wizard) -> None:
    wizard.ready("first")
    wizard.ready("second")
    response = wizard.client.post(f"/workloads/drafts/{wizard.draft.pk}/discard/", **HTMX)
    page = response.content.decode()
    assert "first" in page
    assert "second" not in page


def test_save_without_javascript_stays_on_the_page(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    wizard.press("save", **{"worker-args": "--epochs=3"})
    assert (wizard.address, wizard.status) == (wizard.at(2), 200)
    assert "The draft was saved." in wizard.page
    assert Inputs(wizard.page).values["worker-args"] == "--epochs=3"


def test_an_autosave_that_a_later_one_overtook_is_not_kept(wizard: Wizard) -> None:
    """An autosave that a page sent before its CONTINUE may reach the server after it."""
    wizard.open()
    wizard.save(1, name="final", tab="one", sent="2")
    wizard.save(1, name="half-typ", tab="one", sent="1")
    assert wizard.draft.content.name == "final"
    wizard.save(1, name="elsewhere", tab="two", sent="1")
    assert wizard.draft.content.name == "elsewhere", "between tabs the later arrival wins"


@pytest.mark.parametrize("sent", ["", "x", "-1", "9" * 40])
def test_a_time_that_cannot_be_read_loses_nothing(wizard: Wizard, sent: str) -> None:
    wizard.open()
    wizard.save(1, name="kept", tab="one", sent=sent)
    assert wizard.draft.content.name == "kept"


def test_an_environment_drops_what_it_sets_and_keeps_the_rest(wizard: Wizard) -> None:
    """A copied workload brings values that no page asks for."""
    wizard.ready()
    draft = wizard.draft
    volume = {"path": "/data", "claimInfo": {"size": "1G"}}
    draft.document["worker"]["values"] = {"storage": {"pvc": [volume]}, "image": "own:1"}
    environment = draft.document["worker"]["assets"].pop("environment")
    draft.save()
    wizard.save(2, **{"worker-environment": str(environment)})
    values = wizard.draft.content.worker.values
    assert values["storage"] == {"pvc": [volume]}
    assert "image" not in values


def test_the_name_of_a_draft_has_a_limit(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(1, name="a" * 100_000)
    assert wizard.draft.content.name == "a" * 200


def test_a_page_that_another_one_overtook_changes_nothing(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    shown = str(wizard.draft.version)
    wizard.save(2, numWorkers="3", tab="one", sent="1", version=shown)
    for name, tab, status in (("same-page", "one", 200), ("older", "two", 409)):
        answer = wizard.client.post(
            wizard.at(1), {"name": name, "tab": tab, "sent": "2", "version": shown}, **HTMX
        )
        assert answer.status_code == status
        assert ("draft-overtaken" in answer.headers.get("HX-Trigger", "")) is (status == 409)
    assert wizard.draft.content.name == "same-page"
    fresh = str(wizard.draft.version)
    wizard.save(1, name="reloaded", tab="two", sent="3", version=fresh)
    assert wizard.draft.content.name == "reloaded"


def test_a_page_without_javascript_shows_what_overtook_it(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2))
    older = wizard.page
    wizard.client.post(wizard.at(2), {"numWorkers": "3"}, **HTMX)
    wizard.page = older
    wizard.press("continue", numWorkers="2")
    assert (wizard.status, wizard.address) == (409, wizard.at(2))
    assert "changed in another tab or window" in wizard.page
    assert Inputs(wizard.page).values["numWorkers"] == "3"
    wizard.press("continue", numWorkers="4")
    assert wizard.draft.content.values["numWorkers"] == 4


def test_a_new_draft_begins_where_and_as_the_last_workload_was(
    wizard: Wizard, project: Project
) -> None:
    other = ProjectFactory(members=[wizard.user])
    wizard.open()
    assert wizard.draft.content.project is None, "one of several"
    WorkloadFactory(project=project, created_by=UserFactory(), framework="MPI")
    WorkloadFactory(
        project=other, created_by=wizard.user, framework="JAX", architecture="workers_only"
    )
    wizard.open()
    content = wizard.draft.content
    assert (content.project, content.cluster) == (other.pk, other.cluster_id)
    assert (content.framework, content.architecture) == ("JAX", "workers_only")
    assert Draft.objects.count() == 1, "nothing was entered yet"
    assert drafts.unfinished_drafts(wizard.user) == []
    wizard.open(f"/workloads/new/?project={project.pk}")
    assert wizard.draft.content.project == project.pk, "a project in the query is used"


def test_a_project_that_was_left_is_not_begun_with(wizard: Wizard, project: Project) -> None:
    for other in (ProjectFactory(members=[wizard.user]), ProjectFactory(members=[wizard.user])):
        WorkloadFactory(project=other, created_by=wizard.user)
        remove_members(other, wizard.user)
    ProjectFactory(members=[wizard.user])
    wizard.open()
    assert wizard.draft.content.project is None
