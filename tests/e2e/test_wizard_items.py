"""Fields in the browser that bring others or take them away: volumes, tolerations and names, for a
Kubernetes cluster that nobody asks, parts of GPUs, and a command."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.far import far
from tests.e2e.walk import begin, output
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


def test_the_amount_of_the_chosen_part_of_a_gpu_is_asked_for_alone(admin_page: Page) -> None:
    page = admin_page
    begin(page, "part-of-one")
    page.get_by_role("radio", name="cpu-only", exact=True).check()
    page.locator("#requests > summary").click()
    part, body = page.get_by_label("Part of a GPU"), output(page, "yaml")
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
    command = page.get_by_label("Command", exact=True)
    page.get_by_role("radio", name="program", exact=True).check()
    expect(page.get_by_text("Uses python own.py from environment program.")).to_be_visible()
    expect(page.get_by_text("+COMMAND & ARGUMENTS")).to_be_hidden()
    begin(page, "with-command", cluster="far", project="vision")
    page.get_by_role("radio", name="own-ids", exact=True).check()
    expect(command).to_be_hidden()
    page.get_by_text("+COMMAND & ARGUMENTS").press("Enter")
    expect(command).to_be_focused()
    command.fill("python train.py")
    page.get_by_label("Arguments", exact=True).fill("--epochs=3 --lr=0.1")
    page.get_by_label("Arguments", exact=True).blur()
    expect(page.locator("#wizard-saved")).to_contain_text("Saved")
    page.reload()
    expect(command).to_have_value("python train.py")
    expect(page.get_by_text("+COMMAND & ARGUMENTS")).to_be_hidden()
