"""On a cluster with Kueue, a training gets its queue in the browser, waits there, and runs."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.cluster import SHELL_IMAGE, RealCluster
from tests.e2e.walk import command, make_environment
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.kubernetes, pytest.mark.kueue]
CLUSTER = "queued"
PROJECT = "vision-queued"
NAME = "in-a-queue"
QUEUE = "team"


@pytest.fixture
def queue(real_cluster: RealCluster) -> Iterator[Queue]:
    """A LocalQueue of the project's namespace, without room for any pod yet."""
    space = f"trainyard-{PROJECT}"
    real_cluster.wipe(space)
    found = Queue.in_namespace(real_cluster.api, space, QUEUE)
    found.open(seats=1)  # a fifth of what the pod requests
    yield found
    found.close()


@pytest.fixture
def product(
    running_trainyard: Trainyard, real_cluster: RealCluster, queue: Queue
) -> Iterator[Trainyard]:
    real_cluster.join(running_trainyard, CLUSTER, PROJECT)
    yield running_trainyard
    with Rest(running_trainyard, PROJECT) as rest:
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])
            wait_for(partial(_is_gone, real_cluster, row["id"]), 60, "its pods to be gone")


def _is_gone(cluster: RealCluster, workload: str) -> bool:
    return not cluster.pods(workload)


def set_default_queue(page: Page) -> None:
    page.goto("/projects/")
    page.get_by_role("link", name=PROJECT, exact=True).first.click()
    page.get_by_role("link", name="Edit").first.click()
    page.get_by_label("Default queue").fill(QUEUE)
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text(f"{PROJECT} was saved.")).to_be_visible()


def fill_in(page: Page) -> None:
    """Fill in the wizard up to its review, for one pod in the queue."""
    page.goto("/workloads/new/")
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name=CLUSTER).check()
    page.get_by_role("radio", name=PROJECT).check()
    page.get_by_role("radio", name="Standard").check()
    page.get_by_role("radio", name="Start from scratch").check()
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    make_environment(page, "shell", SHELL_IMAGE)
    command(page).fill("echo trained")
    page.get_by_role("button", name="+NEW COMPUTE RESOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill("a-bit-of-cpu")
    drawer.get_by_label("GPU devices per pod").fill("0")
    drawer.get_by_role("button", name="CREATE COMPUTE RESOURCE").click()
    expect(page.get_by_role("radio", name="a-bit-of-cpu", exact=True)).to_be_checked()
    page.locator("#scheduling > summary").click()
    queues = page.get_by_label("Queue", exact=True)
    expect(queues.locator("option").first).to_have_text(f"The project's default: {QUEUE}")
    queues.select_option(QUEUE)


def test_a_training_waits_in_its_queue_and_runs_once_it_has_room(
    admin_page: Page, product: Trainyard, queue: Queue
) -> None:
    page = admin_page
    set_default_queue(page)
    fill_in(page)
    never = f"More than queue {QUEUE} can ever give"
    expect(page.get_by_text(never).first).to_be_visible()
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")
    with Rest(product, PROJECT) as rest:
        (row,) = rest.send("GET", f"/workloads?filterBy=name=={NAME}")["workloads"]
        page.goto(f"/workloads/{row['id']}/")
        expect(page.get_by_text(re.compile("queue team")).first).to_be_visible(timeout=30_000)
        stored = rest.send("GET", f"/workloads/trainings/{row['id']}")
        assert stored["spec"]["queue"] == QUEUE
        queue.open(seats=10)
        assert rest.wait(row["id"], "Completed", "Failed") == "Completed"
