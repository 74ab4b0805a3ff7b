"""axe finds no barrier on any page, in light and in dark."""

from collections.abc import Iterable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.walk import begin
from tests.product import Trainyard
from tests.rest import Rest

pytestmark = pytest.mark.e2e
GALLERIES = ("environments", "compute-resources", "data-sources", "credentials")
PAGES = (
    "access-keys/",
    "audit/",
    "clusters/",
    "clusters/new/",
    "projects/",
    "projects/new/",
    "settings/",
    "templates/",
    "users/",
    "webhooks/",
    "webhooks/new/",
    "workloads/",
    *(f"{gallery}/?as={look}" for gallery in GALLERIES for look in ("cards", "table")),
    *(f"{gallery}/new/" for gallery in GALLERIES),
)
#: What Swagger UI does on its page: a ``main`` of its own inside ours, and groups that begin at h3.
OF_SWAGGER_UI = {
    *("heading-order", "landmark-main-is-top-level"),
    *("landmark-no-duplicate-main", "landmark-unique"),
}
TABS = ("", "events/", "logs/", "metrics/", "spec/")
DARK: dict[str, Any] = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
#: A theme, and the end of all that fades into it.
PAINT = """async theme => {
  document.documentElement.setAttribute("data-bs-theme", theme);
  const fading = () => document.getAnimations().filter(it => it instanceof CSSTransition);
  for (let left = fading(); left.length; left = fading()) {
    await Promise.allSettled(left.map(it => it.finished));
  }
}"""
axe = Axe()


def barriers(page: Page) -> Iterable[str]:
    """A line each: where, the rule and the element. In the dark only colors differ."""
    page.evaluate(PAINT, "light")
    light = axe.run(page).response["violations"]
    page.evaluate(PAINT, "dark")
    dark = axe.run(page, options=DARK).response["violations"]
    for theme, rules in (("light", light), ("dark", dark)):
        for rule in rules:
            for node in rule["nodes"]:
                yield f"{page.url} {theme} {rule['id']}: {node['html'][:200]}"


def test_lists_and_forms_have_no_barriers(admin_page: Page) -> None:
    lines = list[str]()
    for address in PAGES:
        admin_page.goto(f"/{address}")
        lines += barriers(admin_page)
    assert not lines, "\n".join(lines)


def test_the_api_reference_has_no_barriers_but_those_of_its_library(admin_page: Page) -> None:
    admin_page.goto("/api-reference/")
    expect(admin_page.locator(".opblock-tag").first).to_be_visible(timeout=20_000)
    lines = [
        line
        for line in barriers(admin_page)
        if not any(f" {rule}: " in line for rule in OF_SWAGGER_UI)
    ]
    assert not lines, "\n".join(lines)


def test_the_wizard_has_no_barriers(admin_page: Page) -> None:
    page, lines = admin_page, list[str]()
    begin(page, "no-barriers")
    for step in ("1", "2", "3"):
        page.goto(page.url.rsplit("/", 2)[0] + f"/{step}/")
        page.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
        lines += barriers(page)
    page.goto(page.url.rsplit("/", 2)[0] + "/yaml/")
    lines += barriers(page)
    assert not lines, "\n".join(lines)


def test_the_pages_of_a_workload_have_no_barriers(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page, lines = admin_page, list[str]()
    with Rest(running_trainyard) as rest:
        pk = rest.submit("on-every-tab", command="sh -c 'echo hello'", workers=1)
        page.goto(f"/workloads/{pk}/")
        expect(page.get_by_text("Completed").first).to_be_visible(timeout=60_000)
        for tab in TABS:
            page.goto(f"/workloads/{pk}/{tab}")
            lines += barriers(page)
        rest.send("DELETE", f"/workloads/distributed/{pk}")
    assert not lines, "\n".join(lines)
