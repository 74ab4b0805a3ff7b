"""A press of the mouse counts, whatever the page does meanwhile."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
ANEW = "link => { link.parentNode.innerHTML += '' }"
AWAY = "link => { link.style.marginTop = '300px' }"
BUTTON = "Press me"


@pytest.mark.parametrize("change", [ANEW, AWAY])
def test_a_link_that_is_redrawn_during_a_press_is_followed(admin_page: Page, change: str) -> None:
    page = admin_page
    page.goto("/workloads/")
    link = page.get_by_role("link", name="Templates", exact=True).first
    link.hover()
    page.mouse.down()
    link.evaluate(change)
    page.mouse.up()
    page.wait_for_url("**/templates/")


def test_a_button_is_clicked_once_and_another_one_in_its_place_never(admin_page: Page) -> None:
    page = admin_page
    page.goto("/workloads/")
    page.evaluate(
        """name => { window.clicks = []; const main = document.querySelector('main');
        window.draw = row => { main.innerHTML = `<button>${name}</button>`;
          main.firstChild.onclick = () => clicks.push(row); }; draw(1); }""",
        BUTTON,
    )
    page.get_by_role("button", name=BUTTON).click()
    assert page.evaluate("clicks") == [1]
    page.get_by_role("button", name=BUTTON).hover()
    page.mouse.down()
    page.evaluate("draw(2)")
    page.mouse.up()
    expect(page.get_by_role("button", name=BUTTON)).to_be_visible()
    page.get_by_role("button", name=BUTTON).click()
    assert page.evaluate("clicks") == [1, 2]
