"""By keyboard alone: the quickstart, "Run your First Distributed Training", a standard training
and a workspace."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.far import far
from tests.e2e.walk import IMAGE
from tests.product import Trainyard
from tests.rest import Rest

__all__ = ["far"]
pytestmark = pytest.mark.e2e
MOST_STOPS = 160


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


def set_up(page: Page, kind: str, name: str, **choices: str) -> None:
    """The first page, from the table of workloads on."""
    press(page, "+NEW WORKLOAD")
    go_to(page, page.get_by_role("link", name=kind, exact=True), key="ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/1/")
    for group, choice in choices.items():
        choose(page, group_of(page, group.replace("_", " ")), choice)
        expect(page.locator(".htmx-request")).to_have_count(0)
    enter(page, page.get_by_label("Name", exact=True), name)
    press(page, "Continue")
    page.wait_for_url("**/2/")


def group_of(page: Page, name: str) -> Locator:
    return page.get_by_role("radiogroup", name=name)


def unfold(page: Page, key: str) -> None:
    go_to(page, page.locator(f"#{key} > summary"))
    page.keyboard.press("Enter")


def add(page: Page, button: str, item: str) -> Locator:
    press(page, button)
    group = page.get_by_role("group", name=item, exact=True)
    expect(group).to_be_visible()
    return group


def select(page: Page, field: Locator, value: str) -> None:
    """By arrows: the letters of a label count only as long as they are typed without a pause. What
    a change of it draws again may take the focus along, or bring an earlier choice back."""
    chosen = field.locator("option:checked")
    key = "Home"
    for _ in range(MOST_STOPS):
        expect(page.locator(".htmx-request")).to_have_count(0)
        if (chosen.text_content() or "").strip() == value:
            break
        go_to(page, field)
        page.keyboard.press(key)
        key = "ArrowDown"
    expect(chosen).to_have_text(value)


def create(page: Page, noun: str) -> None:
    press(page, "Continue")
    page.wait_for_url("**/3/")
    press(page, f"Create {noun}")
    page.wait_for_url("**/workloads/?sel=*")


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
    """From signing in to the row of its training: nothing is clicked, and no address entered."""
    sign_in(page, running_trainyard)
    drawer = page.get_by_role("dialog")
    distributed = {
        "Workload_architecture": "Distributed",  # as the last one need not have been
        "Framework": "PyTorch",
        "Distributed_training_configuration": "Workers & master",
    }
    set_up(page, "Training", "by-keyboard", Cluster="local", Project="team-a", **distributed)
    make_environment(page, drawer)
    enter(page, page.get_by_label("Number of workers"), "2")
    make_compute_resource(page, drawer)
    expect(page.get_by_text("3 = 1 master + 2 workers").first).to_be_visible()

    create(page, "training")
    row = page.locator("tr[data-phase]").filter(has_text="by-keyboard")
    expect(row).to_have_count(1)
    with Rest(running_trainyard) as rest:
        (training,) = rest.send("GET", "/workloads?filterBy=name==by-keyboard")["workloads"]
        assert len(rest.pods(training["id"])) == 3
        rest.delete(training["id"])


@pytest.mark.extended
def test_a_workspace_with_tool_and_volume_is_created_by_keyboard(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    page.goto("/workloads/")
    set_up(page, "Workspace", "desk-by-keyboard", Cluster="local", Project="team-a")
    choose(page, group_of(page, "Environment"), "jax")
    expect(page.locator(".htmx-request")).to_have_count(0)
    # The arrows went over an environment with a command, which opened the field.
    enter(page, page.get_by_label("Command", exact=True), "sleep 600")
    choose(page, group_of(page, "Compute resource"), "cpu-only")
    unfold(page, "tools")
    item = add(page, "+TOOL", "Tools 1")
    enter(page, item.get_by_label("Name", exact=True), "board")
    enter(page, item.get_by_label("Container port"), "6006")
    unfold(page, "storage")
    volume = add(page, "+VOLUME", "Volume 1")
    enter(page, volume.get_by_label("Claim size", exact=True), "1")
    enter(page, volume.get_by_label("Container path"), "/scratch")
    unfold(page, "general")
    enter(page, page.get_by_label("Idle limit", exact=True), "2")
    select(page, page.get_by_label("Unit of idle limit"), "days")
    create(page, "workspace")
    with Rest(running_trainyard) as rest:
        (desk,) = rest.send("GET", "/workloads?filterBy=name==desk-by-keyboard")["workloads"]
        spec = rest.send("GET", f"/workloads/workspaces/{desk['id']}")["spec"]
        rest.delete(desk["id"])
    assert spec["idleLimitSeconds"] == 2 * 86_400
    tools = [*spec["exposedUrls"], *spec["ports"]]
    assert [(it["toolName"], it["container"]) for it in tools] == [("board", 6006)]
    assert [it["path"] for it in spec["storage"]["pvc"]] == ["/scratch"]


@pytest.mark.extended
def test_a_standard_training_in_node_pools_is_made_by_keyboard_alone(
    admin_page: Page, far: str
) -> None:
    page = admin_page
    page.goto("/workloads/")
    standard = {"Workload_architecture": "Standard"}
    set_up(page, "Training", "alone-by-keyboard", Cluster=far, Project="vision", **standard)
    choose(page, group_of(page, "Environment"), "own-ids")
    press(page, "+ENVIRONMENT VARIABLE")
    enter(page, page.get_by_label("Name 1"), "TOKEN")
    select(page, page.get_by_label("Source 1"), "Credential")
    select(page, page.get_by_label("Credential 1"), "hub (Generic secret, Account)")
    choose(page, group_of(page, "Compute resource"), "tiny")
    unfold(page, "scheduling")
    for number, pool in enumerate(("h100", "a100"), 1):
        item = add(page, "+NODE POOL", f"Node pools {number}")
        select(page, item.get_by_label("Node pool"), pool)
    press(page, "Move up: node pools 2")
    pools = page.locator('select[name^="nodePools-"][name$="-item"]')
    expect(pools.nth(0)).to_have_value("a100")
    toleration = add(page, "+TOLERATION", "Tolerations 1")
    enter(page, toleration.get_by_label("Key"), "gpu")
    select(page, toleration.get_by_label("Operator"), "Exists")
    press(page, "Remove node pools 2")
    expect(pools).to_have_count(1)
    create(page, "training")
    expect(page.locator("tr[data-phase]").filter(has_text="alone-by-keyboard")).to_have_count(1)
