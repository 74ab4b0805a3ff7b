"""How the columns of the workloads table share the window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.far import far
from tests.product import Trainyard

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
__all__ = ["far"]

LONG_NAME = "moe-16x-ablation-with-frozen-router-and-gates"
SEED = f"""
from accounts.models import User
from projects.models import Project
from tests.factories import UserFactory, WorkloadFactory
project = Project.objects.get(name="vision")
Project.objects.filter(pk=project.pk).update(name="vision-foundation-models")
author = UserFactory(username="maria.gonzalez-lopez")
curve = [[step, 3 / (1 + step)] for step in range(20)]
measured = dict(
    project=project,
    created_by=author,
    last_metrics=dict(step=1280000, loss=0.0001234),
    curves=dict(loss=curve),
    running_seconds=104,
)
WorkloadFactory(name="resnet", completed=True, gpus=512, **measured)
team = Project.objects.exclude(pk=project.pk).first()
short = dict(project=team, created_by=User.objects.get(username="admin"))
WorkloadFactory(name="bert-base", completed=True, **{{**measured, **short}})
for n, failure in enumerate(("tensorflow-cluster", "rendezvous-settings", "unused-parameters")):
    WorkloadFactory(
        name=f"{LONG_NAME}-{{n}}",
        failed=True,
        failure_class=failure,
        message="worker-1 ended with exit code 1: ValueError: environment variable expected",
        **measured,
    )
"""
CLEAR = """
from accounts.models import User
from workloads.models import Workload
Workload.objects.filter(cluster__name="far").delete()
Workload.objects.filter(name="bert-base").delete()
User.objects.filter(username="maria.gonzalez-lopez").delete()
"""
CUT = "wrap => wrap.scrollWidth - wrap.clientWidth"
ON_TOP = """name => {
  const box = name.getBoundingClientRect();
  return name.contains(document.elementFromPoint(box.x + 5, box.y + 5));
}"""


@pytest.fixture(scope="module")
def long_rows(far: str, running_trainyard: Trainyard) -> Iterator[str]:
    """Workloads with metrics, long names and long classes of failure. Returns a search for them."""
    try:
        running_trainyard.manage("shell", "--command", SEED)
        yield "/workloads/?q=vision-foundation"
    finally:
        running_trainyard.manage("shell", "--command", CLEAR)


def test_the_default_columns_are_whole(admin_page: Page, long_rows: str) -> None:
    page = admin_page
    width = 1280
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(long_rows)
    expect(page.locator("[data-rows-body] tr")).to_have_count(4)
    assert page.locator(".table-wrap").evaluate(CUT) == 0
    runtime = page.get_by_role("columnheader", name="Total runtime").bounding_box()
    assert runtime
    assert runtime["x"] + runtime["width"] < width


def test_twelve_rows_are_in_sight_on_a_small_laptop(admin_page: Page, long_rows: str) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/workloads/?q=bert-base")
    row = page.locator("[data-rows-body] tr")
    expect(row).to_be_visible()
    body = page.locator("[data-rows-body]").bounding_box()
    box = row.bounding_box()
    assert body
    assert box
    assert body["y"] + 12 * box["height"] <= 800


def test_the_name_stays_where_the_other_columns_scroll(admin_page: Page, long_rows: str) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1024, "height": 900})
    page.goto(long_rows)
    wrap = page.locator(".table-wrap")
    assert wrap.evaluate(CUT) > 0
    wrap.evaluate("wrap => wrap.scrollTo(1000, 0)")
    for name in page.locator("td.strong a").all():
        assert name.evaluate(ON_TOP)
