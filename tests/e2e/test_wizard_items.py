"""Fields in the browser that bring others or take them away: volumes, data sources, tolerations,
node pools, names, credentials, parts of GPUs, a command and the master's own setup."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.far import far
from tests.e2e.walk import begin, command, output
from tests.product import Trainyard

__all__ = ["far"]
pytestmark = [pytest.mark.e2e, pytest.mark.extended]
ADDRESSED = """
from accounts.models import User
User.objects.filter(username="admin").update(email="root@example.com")
"""


def test_a_volume_and_a_toleration_are_added(admin_page: Page, far: str) -> None:
    page = admin_page
    begin(page, "with-data", cluster=far, project="vision")
    page.get_by_text("Data & storage").click()
    page.get_by_role("button", name="+VOLUME").click()
    volume = page.get_by_role("group", name="Volume 1")
    expect(volume.get_by_label("Storage class")).to_be_focused()
    volume.get_by_label("Storage class").select_option("fast")
    expect(output(page, "yaml")).to_contain_text("storageClass: fast")
    expect(page.locator(".errorlist")).to_have_count(0)  # the rest of it was not left yet
    volume.get_by_label("Claim size", exact=True).fill("10")
    path = volume.get_by_label("Container path")
    path.fill("data")
    path.blur()
    expect(volume.get_by_text("write one like /data")).to_be_visible()
    expect(path).to_have_attribute("aria-invalid", "true")
    path.fill("/data")
    expect(path).not_to_have_attribute("aria-invalid", "true")
    page.locator("#scheduling > summary").click()
    page.get_by_role("button", name="+TOLERATION").click()
    toleration = page.get_by_role("group", name="Tolerations 1")
    toleration.get_by_label("Operator").select_option("Exists")
    toleration.get_by_label("Key").press_sequentially("nvidia.com/gpu")
    page.get_by_label("Read-write by many nodes").check()
    page.reload()
    expect(page.locator("#scheduling-note")).to_have_text("1 changed")
    page.locator("#storage > summary").click()
    page.locator("#scheduling > summary").click()
    expect(toleration.get_by_label("Key")).to_have_value("nvidia.com/gpu")
    expect(toleration.get_by_label("Operator")).to_have_value("Exists")
    expect(path).to_have_value("/data")
    expect(page.get_by_label("Read-write by many nodes")).to_be_checked()
    body = output(page, "yaml")
    wanted = ("size: 10G", "path: /data", "readWriteMany: true", "key: nvidia.com/gpu")
    for line in (*wanted, "operator: Exists"):
        expect(body).to_contain_text(line)


def test_only_the_amount_of_the_chosen_gpu_part_is_asked_for(admin_page: Page) -> None:
    page = admin_page
    begin(page, "part-of-one")
    page.get_by_role("radio", name="cpu-only", exact=True).check()
    page.locator("#requests > summary").click()
    part = page.get_by_label("Part of a GPU")
    body = output(page, "yaml")
    part.select_option("A fraction of the device")
    page.get_by_label("GPU fraction", exact=True).fill("0.5")
    expect(page.get_by_label("GPU memory per device")).to_have_count(0)
    expect(body).to_contain_text("gpuPortionRequest: 0.5")
    part.select_option("An amount of its memory")
    page.get_by_label("GPU memory per device").fill("4G")
    expect(page.get_by_label("GPU fraction", exact=True)).to_have_count(0)
    expect(body).to_contain_text("gpuMemoryRequest: 4G")
    expect(body).not_to_contain_text("gpuPortionRequest")
    page.get_by_role("radio", name="one-gpu", exact=True).check()
    expect(part).to_have_value("")
    expect(body).not_to_contain_text("gpuMemoryRequest")


@pytest.mark.usefixtures("far")
def test_a_tool_is_open_to_names_that_are_added(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    running_trainyard.manage("shell", "--command", ADDRESSED)
    begin(page, "for-some", cluster="far", project="vision")
    page.locator("#tools > summary").click()
    page.get_by_role("button", name="+TOOL", exact=True).click()
    tool = page.get_by_role("group", name="Tools 1")
    tool.get_by_label("Container port").fill("6006")
    access = tool.get_by_label("Who may access")
    access.select_option("Specific groups")
    expect(page.get_by_text("Name at least one")).to_have_count(0)
    add(tool, "+GROUP", 1, "vision")
    expect(page.get_by_text("You are in none of these groups.")).to_be_visible()
    tool.get_by_role("button", name="Remove users or groups 1").click()
    access.select_option("Specific users")
    add(tool, "+USER", 1, "maria")
    expect(page.get_by_text("You are not among them.")).to_be_visible()
    add(tool, "+USER", 2, "Root@example.com")
    expect(page.get_by_text("Root@example.com is admin.")).to_be_visible()
    expect(page.get_by_text("You are not among them.")).to_have_count(0)
    page.reload()
    expect(page.locator("input[id^=worker-connections-0-who-]")).to_have_count(2)


def add(tool: Locator, button: str, number: int, name: str) -> None:
    """An input comes by the button, has the cursor, and suggests names."""
    tool.get_by_role("button", name=button, exact=True).click()
    entry = tool.get_by_label(f"Users or groups {number}", exact=True)
    expect(entry).to_be_focused()
    entry.fill(name)
    entry.blur()


@pytest.mark.usefixtures("far")
def test_a_command_is_added_where_there_is_none(admin_page: Page) -> None:
    page = admin_page
    begin(page, "with-command", cluster="hpc", project="speech")
    field = page.get_by_label("Command", exact=True)
    page.get_by_role("radio", name="program", exact=True).check()
    expect(page.get_by_text("Uses python own.py from environment program.")).to_be_visible()
    expect(page.get_by_text("+COMMAND & ARGUMENTS")).to_be_hidden()
    begin(page, "with-command", cluster="far", project="vision")
    page.get_by_role("radio", name="own-ids", exact=True).check()
    expect(field).to_be_hidden()
    page.get_by_text("+COMMAND & ARGUMENTS").press("Enter")
    expect(field).to_be_focused()
    field.fill("python train.py")
    page.get_by_label("Arguments", exact=True).fill("--epochs=3 --lr=0.1")
    page.get_by_label("Arguments", exact=True).blur()
    expect(page.locator("#wizard-saved")).to_contain_text("Saved")
    page.reload()
    expect(field).to_have_value("python train.py")
    expect(page.get_by_text("+COMMAND & ARGUMENTS")).to_be_hidden()


POOLED = """
from projects.models import Project
Project.objects.filter(name="vision").update(default_node_pools=["a100", "h100"])
"""


UNFOLD = "document.querySelectorAll('details.fold').forEach(it => { it.open = true })"


def workers(page: Page, name: str) -> None:
    """Go to the second page, and open all of it."""
    begin(page, name, cluster="far", project="vision")
    page.evaluate(UNFOLD)


def choose(page: Page, *assets: str) -> None:
    for name in assets:
        page.get_by_role("radio", name=name, exact=True).check()


@pytest.mark.usefixtures("far")
def test_node_pools_are_dragged_moved_removed_and_reset(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    running_trainyard.manage("shell", "--command", POOLED)
    workers(page, "in-pools")
    pools = page.locator('select[name^="nodePools-"][name$="-item"]')
    grips = page.locator("#nodePools-rows .item-grip")

    def are(*names: str) -> None:
        """In this order, with the numbers by which their buttons are found."""
        expect(pools).to_have_count(len(names))
        for number, name in enumerate(names):
            expect(pools.nth(number)).to_have_attribute("name", f"nodePools-{number}-item")
            expect(pools.nth(number)).to_have_value(name)

    are("a100", "h100")
    grips.nth(1).drag_to(grips.nth(0))
    are("h100", "a100")
    page.get_by_role("button", name="Move down: node pools 1").click()
    are("a100", "h100")
    page.get_by_role("button", name="Remove node pools 1").click()
    are("h100")
    page.get_by_role("button", name="+NODE POOL").click()
    with page.expect_response("**/2/"):
        pools.nth(1).select_option("a100")
    are("h100", "a100")
    page.get_by_role("button", name="Reset to the project's default").click()
    are("a100", "h100")


@pytest.mark.usefixtures("far")
def test_a_data_source_is_made_chosen_and_mounted_elsewhere(admin_page: Page) -> None:
    page = admin_page
    workers(page, "with-source")
    page.get_by_role("button", name="+NEW DATA SOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Type").select_option("NFS")
    drawer.get_by_label("Name", exact=True).fill("images")
    drawer.locator("#id_nfs_server").fill("nas.example.com")
    drawer.get_by_label("Path on the server").fill("/export")
    drawer.locator("#id_nfs_mountPath").fill("/data")
    drawer.get_by_role("button", name="CREATE DATA SOURCE").click()
    expect(drawer).to_be_hidden()
    source = page.get_by_role("group", name="Data source 1")
    chosen = source.get_by_label("Data source", exact=True)
    expect(chosen).to_be_focused()
    expect(chosen.locator("option:checked")).to_have_text("images: the cluster far is disconnected")
    source.get_by_label("Container path").fill("/models")
    source.get_by_label("Container path").blur()
    expect(output(page, "yaml")).to_contain_text("mountPath: /models")


@pytest.mark.usefixtures("far")
def test_the_master_is_set_up_as_the_workers_or_on_its_own(admin_page: Page) -> None:
    page = admin_page
    workers(page, "led")
    choose(page, "own-ids", "tiny")
    command(page).fill("python work.py")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    body = output(page, "yaml")
    toggle = page.get_by_label("Define a different setup for the master")
    expect(toggle).not_to_be_checked()
    expect(body).not_to_contain_text("masterSpec")
    toggle.check()
    expect(page.get_by_role("button", name="+NEW ENVIRONMENT")).to_be_visible()
    page.evaluate(UNFOLD)
    for name in ("+NEW ENVIRONMENT", "+NEW COMPUTE RESOURCE", "+VOLUME", "+DATA SOURCE", "+LABEL"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.get_by_label("Command", exact=True).fill("python lead.py")
    page.get_by_label("Command", exact=True).blur()
    expect(body).to_contain_text("masterSpec")
    expect(body).to_contain_text("command: python lead.py")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")
    expect(page.locator("tr[data-phase]").filter(has_text="led")).to_have_count(1)


CREDENTIALS = """
from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from projects.models import Project
from projects.scopes import OwningScope
scope = OwningScope(Project.objects.get(name="team-a"))
by = User.objects.get(username="admin")
kept = {"User": "ada", "Password": "tr41n-l1ke-nobody-reads"}
for name, kind, keys in (("db", "password", ()), ("hub", "genericSecret", ("token",))):
    entered = kept if kind == "password" else {"token": "tr41n-l1ke-nobody-reads"}
    document = {"kind": kind, "keys": list(keys)}
    services.create(CREDENTIAL, by=by, name=name, scope=scope, document=document, entered=entered)
"""


NO_CREDENTIALS = "from assets.models import Credential; Credential.objects.all().delete()"


def test_a_variable_takes_its_value_from_a_credential(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    running_trainyard.manage("shell", "--command", CREDENTIALS)
    begin(page, "with-credential")
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click()
    page.get_by_label("Name 1").fill("DB_PASSWORD")
    page.get_by_label("Source 1").focus()
    page.get_by_label("Source 1").select_option("Credential")
    chosen = page.get_by_label("Credential 1")
    expect(page.get_by_label("Source 1")).to_be_focused()
    chosen.focus()
    chosen.select_option("db (Username & password, Project team-a)")
    expect(chosen).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Key 1")).to_be_focused()
    page.get_by_label("Key 1").select_option("Password")
    code = output(page, "yaml")
    expect(code).to_contain_text("key: Password")
    chosen.select_option("hub (Generic secret, Project team-a)")
    expect(page.get_by_label("Key 1")).to_have_value("token")
    expect(page.locator(".errorlist")).to_have_count(0)
    page.get_by_label("Source 1").select_option("Custom value")
    expect(page.get_by_label("Value 1")).to_have_value("")
    assert "tr41n-l1ke-nobody-reads" not in page.content()
    running_trainyard.manage("shell", "--command", NO_CREDENTIALS)
