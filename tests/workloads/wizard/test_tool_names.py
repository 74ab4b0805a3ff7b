"""Who may open a tool: names added by a button each, usernames and email addresses."""

from typing import Any

import pytest

from projects.models import Project
from tests.factories import UserFactory, add_members
from tests.workloads.wizard.browser import Inputs, Wizard
from tests.workloads.wizard.tools import GROUPS, TOOLS, USERS, people

pytestmark = pytest.mark.django_db
WHO = f"{TOOLS}-0-who"


@pytest.fixture
def opened(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """A tool for specific users, none of whom is named yet."""
    wizard.ready().save(2, **people())
    return wizard.open(wizard.at(2))


def named(wizard: Wizard, key: str = USERS) -> Any:
    (tool,) = wizard.draft.content.worker.values["connections"]
    return tool.get(key)


def test_each_name_is_added_by_the_button(opened: Wizard) -> None:
    assert f"{WHO}-0" not in Inputs(opened.page).values
    assert 'data-of="authorizedUsers">+USER<' in opened.page
    assert 'data-of="authorizedGroups">+GROUP<' in opened.page
    opened.press(f"another:{WHO}")
    opened.press(f"another:{WHO}", **{f"{WHO}-0": "maria"})
    assert Inputs(opened.page).values[f"{WHO}-1"] == ""
    assert '<details class="fold" id="tools" open>' in opened.page
    opened.press("save", **{f"{WHO}-1": "mark"})
    assert named(opened) == ["maria", "mark"]


def test_a_name_is_removed_and_the_others_stay(opened: Wizard) -> None:
    opened.save(2, **people("maria", "mark", "ada"))
    opened.open(opened.at(2)).press(f"empty:{WHO}-1")
    assert named(opened) == ["maria", "ada"]
    assert Inputs(opened.page).values[f"{WHO}-1"] == "ada"


def test_an_input_that_is_left_empty_names_nobody(opened: Wizard) -> None:
    opened.save(2, **people("", "ada", " "))
    assert named(opened) == ["ada"]
    page = opened.save(2, **people("", " "))
    assert named(opened) is None
    assert "Name at least one" in page


def test_a_button_draws_its_tool_again_with_an_input_for_the_name(opened: Wizard) -> None:
    more = people("ada") | {"action": f"another:{WHO}", "again": TOOLS}
    page = opened.save(2, **more)
    assert page.lstrip().startswith("<div data-list")
    assert f'id="{WHO}-1"' in page


def test_names_with_a_comma_are_one_name(opened: Wizard) -> None:
    opened.save(2, **people("a, b", access=GROUPS))
    assert named(opened, GROUPS) == ["a, b"]
    opened.open(opened.at(2)).press("save")
    assert named(opened, GROUPS) == ["a, b"]


def test_a_number_in_place_of_names_is_shown_as_a_name(opened: Wizard) -> None:
    draft = opened.draft
    draft.document["worker"]["values"]["connections"][0][USERS] = 5
    draft.save()
    assert Inputs(opened.open(opened.at(2)).page).values[f"{WHO}-0"] == "5"


def test_an_email_address_is_taken_for_the_user_who_has_it(
    opened: Wizard, on_kubernetes: Project
) -> None:
    add_members(on_kubernetes, UserFactory(username="maria", email="Maria@example.com"))
    UserFactory(username="margit", email="margit@example.com")
    page = opened.save(2, **people("maria@Example.com", "margit@example.com"))
    assert "maria@Example.com is maria." in page
    assert "There is no user margit@example.com in your projects." in page, "whom nobody here sees"
    assert named(opened) == ["maria@Example.com", "margit@example.com"], "as typed"
    assert opened.plan().is_submittable


def test_an_author_who_names_their_own_address_is_not_left_out(opened: Wizard) -> None:
    opened.user.email = "me@example.com"
    opened.user.save()
    page = opened.save(2, **people("ME@example.com"))
    assert f"ME@example.com is {opened.user.username}." in page
    assert "You are not among them." not in page


def test_an_address_of_several_is_warned_of(opened: Wizard, on_kubernetes: Project) -> None:
    for name in ("maria", "mark"):
        add_members(on_kubernetes, UserFactory(username=name, email="team@example.com"))
    page = opened.save(2, **people("team@example.com"))
    unclear = "The address team@example.com does not say who is meant: enter the username, "
    assert f"{unclear}maria or mark." in page


def test_an_ambiguous_address_does_not_reveal_invisible_users(
    opened: Wizard, on_kubernetes: Project
) -> None:
    add_members(on_kubernetes, UserFactory(username="maria", email="maria@example.com"))
    UserFactory(username="maria@example.com")
    page = opened.save(2, **people("maria@example.com"))
    unclear = "The address maria@example.com does not say who is meant: enter the username, "
    assert f"{unclear}maria." in page
    assert "is maria." not in page
    UserFactory(username="zoe@example.com")
    assert "There is no user zoe@example.com" in opened.save(2, **people("zoe@example.com"))
