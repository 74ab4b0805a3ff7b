"""``make pictures``: takes the pictures of README and docs from the running product.

Each page of the docs has one at its top, and some have more. One walk through a new installation
takes all of them, so they show what a new user sees, as of the last time this ran.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from bench.browser import ARGUMENTS, sign_in
from config.run.install import ROOT
from tests import browser as chromium
from tests.e2e.walk import begin, command
from tests.product import Trainyard
from tests.rest import Rest

FOLDER = ROOT / "docs" / "pictures"
SIZE = ViewportSize(width=1280, height=800)
TRAINED = 180_000  # milliseconds
SLOWLY = "--epochs 40 --step-delay 0.05"


@dataclass(frozen=True)
class Picture:
    """One picture. ``take`` brings the browser to what it shows."""

    name: str
    take: Callable[[Page], None]


def _table(page: Page) -> None:
    page.goto("/workloads/")
    expect(page.locator("tr[data-phase=Running]").first).to_be_visible()


def _tab(workload: str, tab: str) -> Callable[[Page], None]:
    def take(page: Page) -> None:
        page.goto("/workloads/")
        page.locator("tr[data-phase]").get_by_role("link", name=workload, exact=True).click()
        page.get_by_role("link", name=tab, exact=True).click()
        if tab == "Metrics":
            expect(page.locator("canvas").first).to_be_visible()
        if tab == "Logs":
            expect(page.get_by_role("log").get_by_text("Test accuracy").first).to_be_visible()

    return take


def _at(address: str) -> Callable[[Page], None]:
    def take(page: Page) -> None:
        page.goto(address)

    return take


def _wizard(page: Page) -> None:
    begin(page, "my-next-training")
    page.get_by_role("radio", name="pytorch", exact=True).check()
    page.get_by_role("radio", name="small-fraction", exact=True).check()
    summary = page.get_by_role("complementary", name="Summary")
    expect(summary.get_by_text("Starts immediately")).to_be_visible()
    page.evaluate("window.scrollTo(0, 0)")


def _setup(page: Page) -> None:
    _wizard(page)
    page.get_by_role("button", name="1 Setup").click()
    expect(page.get_by_role("radio", name="PyTorch")).to_be_visible()


def _verdict(page: Page) -> None:
    """Show a request for more GPUs than are free, with what would make it start."""
    _wizard(page)
    page.get_by_label("Number of workers").fill("7")
    page.get_by_role("radio", name="half-gpu", exact=True).check()
    expect(page.locator(".repairs")).to_be_visible()
    page.evaluate("window.scrollTo(0, 0)")


def _yaml(page: Page) -> None:
    _wizard(page)
    page.get_by_role("button", name="As YAML").click()
    page.wait_for_url("**/yaml/")


def _credential(page: Page) -> None:
    page.goto("/credentials/new/")
    page.get_by_label("Type").select_option("Username & password")
    page.locator("#id_name").fill("forge")


def _command_line(page: Page) -> None:
    _wizard(page)
    summary = page.get_by_role("complementary", name="Summary")
    with page.expect_response("**/drafts/**"):  # opening it requests its text
        summary.get_by_text("CLI", exact=True).click()
    expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)
    summary.get_by_text("trainyard training pytorch").scroll_into_view_if_needed()


def _cluster(page: Page) -> None:
    page.goto("/clusters/")
    page.get_by_role("link", name="local", exact=True).click()


def _data_source(page: Page) -> None:
    page.goto("/data-sources/new/")
    page.get_by_label("Type").select_option("Git")
    page.get_by_label("Name").fill("train-code")
    page.get_by_label("Repository").fill("https://github.com/example/train.git")


def _policy(page: Page) -> None:
    """Show the policy of docs/policies.md in the editor, for the whole account."""
    text = (ROOT / "docs/policies.md").read_text()
    page.goto("/policies/new/?scope=account")
    page.get_by_label("Name", exact=True).fill("limits")
    page.get_by_role("textbox", name="YAML").fill(text.split("```yaml\n")[1].split("```")[0])
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("button", name="Remove Starts with of image").first).to_be_visible()


def _simulation(page: Page) -> None:
    _policy(page)
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("region", name="Simulation").scroll_into_view_if_needed()


def _effective_policy(page: Page) -> None:
    """Save the policy, and show what holds in the project."""
    _policy(page)
    page.get_by_role("button", name="Save policy").click()
    anyway = page.get_by_role("button", name="Save it anyway")
    saved = page.get_by_role("heading", name="Versions")
    expect(anyway.or_(saved)).to_be_visible()
    if anyway.is_visible():
        anyway.click()
        expect(saved).to_be_visible()
    page.goto("/projects/")
    page.get_by_role("link", name="team-a", exact=True).click()
    page.get_by_role("link", name="View policy").click()


def _department(page: Page) -> None:
    """Give a person the role of the administrator of a department."""
    page.goto("/departments/")
    page.get_by_role("link", name="Access").first.click()
    page.get_by_role("link", name="Give access").click()
    page.get_by_label("Role").select_option(label="Department administrator")


PICTURES = (
    Picture("table", _table),
    Picture("metrics", _tab("digits", "Metrics")),
    Picture("logs", _tab("digits", "Logs")),
    Picture("spec", _tab("digits", "Spec")),
    Picture("history", _tab("digits", "Event history")),
    Picture("wizard", _wizard),
    Picture("data-source", _data_source),
    Picture("wizard-setup", _setup),
    Picture("wizard-verdict", _verdict),
    Picture("wizard-yaml", _yaml),
    Picture("environments", _at("/environments/")),
    Picture("credential", _credential),
    Picture("cluster", _cluster),
    Picture("new-cluster", _at("/clusters/new/")),
    Picture("new-slurm-cluster", _at("/clusters/new/?kind=slurm")),
    Picture("projects", _at("/projects/")),
    Picture("audit", _at("/audit/")),
    Picture("command-line", _command_line),
    Picture("access-keys", _at("/access-keys/")),
    Picture("users", _at("/users/")),
    Picture("department", _department),
    Picture("policy", _policy),
    Picture("policy-simulation", _simulation),
    Picture("policy-effective", _effective_policy),  # saves the policy, so it is the last
)


def submit(page: Page, name: str, *, arguments: str = "") -> None:
    """Submit a training by the wizard."""
    begin(page, name)
    page.get_by_role("radio", name="pytorch", exact=True).check()
    page.get_by_role("radio", name="small-fraction", exact=True).check()
    if arguments:
        command(page)  # opens both fields
        page.get_by_label("Arguments").fill(arguments)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")


def take_all(browser: Browser, trainyard: Trainyard) -> None:
    """Submit three trainings, wait until one has completed, one has failed and one runs, and take
    all pictures."""
    state = sign_in(browser, trainyard)
    context = browser.new_context(base_url=trainyard.url, viewport=SIZE, storage_state=state)
    page = context.new_page()
    submit(page, "digits")
    rows = page.locator("tr[data-phase]")
    digits = rows.filter(has=page.get_by_role("link", name="digits", exact=True))
    expect(digits).to_have_attribute("data-phase", "Completed", timeout=TRAINED)
    submit(page, "wrong-command", arguments="--epochs none")
    failed = rows.filter(has_text="wrong-command")
    expect(failed).to_have_attribute("data-phase", "Failed", timeout=TRAINED)
    submit(page, "digits-for-longer", arguments=SLOWLY)
    running = rows.filter(has_text="digits-for-longer")
    expect(running.locator(".metrics-cell")).to_contain_text("loss", timeout=TRAINED)
    for picture in PICTURES:
        picture.take(page)
        expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)
        path = FOLDER / f"{picture.name}.png"
        page.screenshot(path=path, animations="disabled")
        print(path.relative_to(ROOT))
    context.close()


def main() -> int:
    if code := chromium.main():
        return code
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=ARGUMENTS)
        trainyard = Trainyard(Path(home))
        trainyard.start()
        try:
            take_all(browser, trainyard)
        finally:
            _delete_all(trainyard)
            trainyard.stop()
    return 0


def _delete_all(trainyard: Trainyard) -> None:
    """Delete all workloads: ranks survive Trainyard on purpose, and must not survive this."""
    with Rest(trainyard) as rest:
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])


if __name__ == "__main__":
    sys.exit(main())
