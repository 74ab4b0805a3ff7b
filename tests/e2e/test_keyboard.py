"""The quickstart, "Run your First Distributed Training", by keyboard alone."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.walk import IMAGE
from tests.product import Trainyard

pytestmark = pytest.mark.e2e
MOST_STOPS = 80
FINISHED = 180_000  # milliseconds


def go_to(page: Page, target: Locator, *, key: str = "Tab") -> None:
    """Press a key until what a person looks for has the focus."""
    expect(target).to_be_visible()
    for _ in range(MOST_STOPS):
        if target.evaluate("it => it === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} never leads to {target}")


def press(page: Page, name: str, *, within: Locator | None = None) -> None:
    go_to(page, (within or page.locator("body")).get_by_role("button", name=name, exact=True))
    page.keyboard.press("Enter")


def enter(page: Page, field: Locator, text: str) -> None:
    go_to(page, field)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def choose(page: Page, group: Locator, name: str) -> None:
    """Tab leads to a group of radios, arrows to one of them."""
    radio = group.get_by_role("radio", name=name, exact=True)
    radios = group.get_by_role("radio")
    expect(radio).to_be_visible()
    for _ in range(MOST_STOPS):
        if radios.evaluate_all("all => all.includes(document.activeElement)"):
            break
        page.keyboard.press("Tab")
    if radio.evaluate("it => it === document.activeElement"):
        page.keyboard.press("Space")
    else:
        go_to(page, radio, key="ArrowDown")
    expect(radio).to_be_checked()


def sign_in(page: Page, trainyard: Trainyard) -> None:
    page.goto("/")
    enter(page, page.get_by_label("Username"), trainyard.username)
    enter(page, page.get_by_label("Password"), trainyard.password)
    press(page, "Sign in")
    go_to(page, page.get_by_role("link", name="Workloads", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/workloads/")


def set_up(page: Page) -> None:
    """The first page, from the table of workloads on."""
    press(page, "+NEW WORKLOAD")
    go_to(page, page.get_by_role("link", name="Training", exact=True), key="ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/1/")

    for group, name in (
        ("Cluster", "local"),
        ("Project", "team-a"),
        ("Workload architecture", "Distributed"),  # as the last one need not have been
        ("Framework", "PyTorch"),
        ("Distributed training configuration", "Workers & master"),
    ):
        choose(page, page.get_by_role("radiogroup", name=group), name)
        expect(page.locator(".htmx-request")).to_have_count(0)
    enter(page, page.get_by_label("Name", exact=True), "by-keyboard")
    press(page, "Continue")
    page.wait_for_url("**/2/")


def make_environment(page: Page, drawer: Locator) -> None:
    press(page, "+NEW ENVIRONMENT")
    enter(page, drawer.get_by_label("Name", exact=True).first, "keyboard-dt")
    enter(page, drawer.get_by_label("Image URL"), IMAGE)
    press(page, "Create environment", within=drawer)
    expect(drawer).to_be_hidden()
    environment = page.get_by_role("radio", name="keyboard-dt", exact=True)
    expect(environment).to_be_checked()
    expect(environment).to_be_focused()


def make_compute_resource(page: Page, drawer: Locator) -> None:
    press(page, "+NEW COMPUTE RESOURCE")
    enter(page, drawer.get_by_label("Name", exact=True).first, "keyboard-fraction")
    enter(page, drawer.get_by_label("GPU devices per pod"), "1")
    enter(page, drawer.get_by_label("GPU memory per device"), "10")
    press(page, "Create compute resource", within=drawer)
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("radio", name="keyboard-fraction", exact=True)).to_be_checked()


def test_the_quickstart_is_done_by_keyboard_alone(page: Page, running_trainyard: Trainyard) -> None:
    """From signing in to the end of its training: nothing is clicked, and no address entered."""
    sign_in(page, running_trainyard)
    drawer = page.get_by_role("dialog")
    set_up(page)
    make_environment(page, drawer)
    enter(page, page.get_by_label("Number of workers"), "2")
    make_compute_resource(page, drawer)
    expect(page.get_by_text("3 = 1 master + 2 workers").first).to_be_visible()

    press(page, "Continue")
    page.wait_for_url("**/3/")
    press(page, "Create training")
    page.wait_for_url("**/workloads/")
    row = page.locator("tr[data-phase]").filter(has_text="by-keyboard")
    expect(row).to_have_attribute("data-phase", "Completed", timeout=FINISHED)
    expect(row).to_contain_text("3")
