"""A researcher fills in the wizard under a policy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import sign_in
from tests.e2e.walk import begin
from tests.product import PASSWORD, Trainyard

pytestmark = pytest.mark.e2e
RULED = """
from accounts.models import User
from assets.models import DataSource
from policies.services import save_policy
from projects.models import Department, Project
from tests.factories import add_members
from projects.scopes import OwningScope
from spec.kind import WorkloadKind

admin = User.objects.get(username="admin")
team = Project.objects.get(name="team-a")
values = {"department": team.department, "cluster": team.cluster, "gpu_quota": 2}
project = Project.objects.create(name="ruled", **values)
add_members(project, User.objects.create_user("researcher", password="%s"))
source = DataSource.objects.create(
    name="imagenet",
    project=project,
    cluster=team.cluster,
    spec_json={"kind": "hostPath", "hostPath": {"path": "/data", "mountPath": "/data"}},
)
tree = {
    "defaults": {
        "worker": {
            "backoffLimit": 2,
            "workingDir": "/tmp",
            "environmentVariables": {"instances": [{"name": "NCCL_DEBUG", "value": "WARN"}]},
        },
    },
    "rules": {
        "worker": {
            "numWorkers": {"min": 1, "max": 2, "why": "The team shares one machine"},
            "workingDir": {"canEdit": False},
            "compute": {"gpuDevicesRequest": {"max": 0}},
        },
    },
    "imposedAssets": {"worker": [str(source.pk)]},
}
save_policy(
    by=admin, scope=OwningScope(project), kind=WorkloadKind.DISTRIBUTED, name="limits", tree=tree
)
"""


REMOVE = """
from accounts.models import User
from projects.models import Project

Project.objects.get(name="ruled").delete()
User.objects.get(username="researcher").delete()
"""


@pytest.fixture
def _ruled_project(running_trainyard: Trainyard) -> Iterator[None]:
    """A project with a policy. It is gone afterwards: a wizard with one project chooses it."""
    running_trainyard.manage("shell", "--no-imports", "-c", RULED % PASSWORD)
    yield
    running_trainyard.manage("shell", "--no-imports", "-c", REMOVE)


@pytest.mark.usefixtures("_ruled_project")
def test_a_researcher_under_a_policy(page: Page) -> None:
    sign_in(page, "researcher", PASSWORD)
    begin(page, "under-a-policy", project="ruled")
    owner = "policy limits of Project ruled"

    # a range
    workers = page.get_by_label("Number of workers")
    expect(page.get_by_text(f"1 to 2 by {owner}: The team shares one machine.")).to_be_visible()
    workers.fill("3")
    workers.blur()
    summary = page.get_by_role("complementary", name="Summary")
    wrong = f"Number of workers must be at most 2 by {owner}: The team shares one machine."
    expect(summary.get_by_role("link", name=wrong)).to_be_visible()
    workers.fill("2")
    workers.blur()
    expect(summary.get_by_role("link", name=wrong)).to_have_count(0)

    # a locked field
    folder = page.get_by_label("Working directory")
    expect(folder).to_be_disabled()
    expect(folder).to_have_value("/tmp")
    expect(page.get_by_text(f"Locked by {owner}. Ask admin to change the policy.")).to_be_visible()

    # a default item, removed and restored
    page.get_by_role("button", name="Remove NCCL_DEBUG").click()
    restore = page.get_by_role("button", name="Restore NCCL_DEBUG")
    expect(restore).to_be_focused()
    expect(page.locator("#worker-environmentVariables-inherited")).to_contain_text(
        f"removed, from {owner}"
    )
    restore.click()
    expect(page.get_by_role("button", name="Remove NCCL_DEBUG")).to_be_focused()

    # a card that breaks a rule
    expect(page.get_by_role("radio", name="one-gpu", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Why? one-gpu").click()
    why = page.get_by_role("dialog", name="one-gpu breaks 1 rule")
    expect(why).to_contain_text(f"GPU devices per pod must be at most 0 by {owner}.")
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()

    # an imposed data source, and a default
    page.locator("summary").filter(has_text="Data & storage").click()
    expect(page.locator("#worker-dataSources-inherited")).to_contain_text(f"imposed by {owner}")
    page.locator("summary").filter(has_text="General settings").click()
    expect(page.get_by_text(f"Uses 2 from {owner}.")).to_be_visible()
