"""axe finds no barrier on any page: of a narrow and a wide window, in light and in dark.

The pages are those of the URLconf, so that no new one can be forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import APIRequestContext, APIResponse, Browser, Page, expect

from accounts.views.sign_in import CLOSED_PAGES
from tests.e2e.conftest import sign_in
from tests.e2e.every_page import AUTHOR, everything
from tests.e2e.walk import begin
from tests.factories import PASSWORD
from tests.product import Trainyard
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
#: Looks of a page that its address alone does not show.
LOOKS = {
    "clusters/new/": ("?kind=slurm",),
    **{
        f"{gallery}/": ("?as=cards", "?as=table")
        for gallery in ("environments", "compute-resources", "data-sources", "credentials")
    },
    "templates/": ("?as=cards", "?as=table"),
    "workloads/": ("?deleted",),
    "workloads/<uuid:pk>/spec/": ("?part=yaml",),
}
#: What is a page although the answer says that something is wrong.
REFUSED = {
    "^(api|v1)/(?P<rest>.*)$": 404,
    CLOSED_PAGES: 404,
    "workloads/<uuid:pk>/connect/<slug:slug>/": 409,
    "tools/signin/<uuid:pk>/<slug:slug>/": 409,
}
#: No pages: for proxies, an answer without end, and one that is 503 while a worker is missing.
NONE = {"tools/auth/<uuid:pk>/<slug:slug>/", "stream/", "healthz"}
#: What Swagger UI does on its page: a ``main`` of its own inside ours, and groups that begin at h3.
OF_SWAGGER_UI = {
    *("heading-order", "landmark-main-is-top-level"),
    *("landmark-no-duplicate-main", "landmark-unique"),
}
TABS = ("", "events/", "logs/", "metrics/", "ranks/", "spec/")
#: What axe looks at. In the dark only colors differ.
RULES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
#: Each page is opened once: in a wide window in both themes, whose colors do not depend on the
#: width, and then in a narrow one.
WINDOWS = ((1440, ("dark", "light")), (400, ("light",)))
VIOLATIONS = """options => axe.run({resultTypes: ["violations"], ...options})
  .then(results => results.violations)"""
#: A theme, and the end of all that fades into it.
PAINT = """async theme => {
  document.documentElement.setAttribute("data-bs-theme", theme);
  const fading = () => document.getAnimations().filter(it => it instanceof CSSTransition);
  for (let left = fading(); left.length; left = fading()) {
    await Promise.allSettled(left.map(it => it.finished));
  }
}"""
#: Icons whose drawing is not among those of static/icons.txt.
BLANK_ICONS = """[...document.querySelectorAll(".ti")]
  .filter(it => !getComputedStyle(it).getPropertyValue("--icon")).map(it => it.className)"""
UNFOLD = "document.querySelectorAll('main details').forEach(it => { it.open = true })"


@dataclass
class Place:
    """A copy with one of everything, open for its administrator and for nobody."""

    addresses: dict[str, str]
    signed_in: Page
    signed_out: Page

    def pages(self) -> Iterator[tuple[Page, str]]:
        """Each page with the window to open it in; it fails on an address that shows none."""
        for route, address in self.addresses.items():
            if route in NONE:
                continue
            window = self.signed_in
            answer = asked(self.signed_in.request, address)
            if 300 <= answer.status < 400:
                window = self.signed_out
                answer = asked(self.signed_out.request, address)
            as_usual = answer.status < 400 or answer.status == 405
            expected = REFUSED.get(route, answer.status if as_usual else 200)
            assert answer.status == expected, f"{route}: {answer.status} at {address}"
            if "<html" in answer.text()[:500]:
                yield from ((window, address + look) for look in ("", *LOOKS.get(route, ())))


def asked(window: APIRequestContext, address: str) -> APIResponse:
    return window.get(address, max_redirects=0)


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Place]:
    trainyard = Trainyard(tmp_path_factory.mktemp("home"))
    trainyard.start()
    addresses = everything(trainyard)
    with (
        browser.new_context(base_url=trainyard.url, reduced_motion="reduce") as one,
        browser.new_context(base_url=trainyard.url, reduced_motion="reduce") as other,
    ):
        place = Place(addresses, one.new_page(), other.new_page())
        sign_in(place.signed_in, AUTHOR, PASSWORD)
        yield place
    trainyard.stop()


def barriers(page: Page) -> Iterator[str]:
    """A line each: where, the rule and the element."""
    page.evaluate(UNFOLD)
    for classes in page.evaluate(BLANK_ICONS):
        yield f"{page.url}: no drawing for {classes}"
    page.evaluate(AXE_SCRIPT)
    for width, themes in WINDOWS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in themes:
            page.evaluate(PAINT, theme)
            for rule in page.evaluate(VIOLATIONS, RULES[theme]):
                for node in rule["nodes"]:
                    where = f"{page.url} {width} {theme} {rule['id']}"
                    yield f"{where}: {node['html'][:200]}"


def test_no_page_has_a_barrier(everywhere: Place) -> None:
    lines = list[str]()
    opened = 0
    for page, address in everywhere.pages():
        page.goto(address)
        opened += 1
        allowed: set[str] = set()
        if address == "/api-reference/":
            expect(page.locator(".opblock-tag").first).to_be_visible(timeout=20_000)
            allowed = OF_SWAGGER_UI
        lines += (
            line for line in barriers(page) if not any(f" {rule}: " in line for rule in allowed)
        )
    assert opened > 100
    assert not lines, "\n".join(lines)


def test_the_wizard_has_no_barriers(admin_page: Page) -> None:
    page = admin_page
    lines = list[str]()
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
    page = admin_page
    lines = list[str]()
    with Rest(running_trainyard) as rest:
        pk = rest.submit("on-every-tab", command="sh -c 'echo hello'", workers=1)
        page.goto(f"/workloads/{pk}/")
        expect(page.get_by_text("Completed").first).to_be_visible(timeout=60_000)
        for tab in TABS:
            page.goto(f"/workloads/{pk}/{tab}")
            lines += barriers(page)
        rest.send("DELETE", f"/workloads/distributed/{pk}")
    assert not lines, "\n".join(lines)
