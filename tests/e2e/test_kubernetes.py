"""The main job on a real cluster: the same wizard, one master and two workers in three pods."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.cluster import TRAINER_IMAGE, RealCluster
from tests.e2e.walk import begin, command, make_environment
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.kubernetes]

CLUSTER = "pods"
PROJECT = "vision"
NAME = "across-pods"
TRAINED = 300_000  # milliseconds; three times torch beside other tests, on two cores
RANKS = ("master-0", "worker-0", "worker-1")


@pytest.fixture
def workload(real_cluster: RealCluster, running_trainyard: Trainyard) -> Iterator[str]:
    """The name of the training that a test makes; it is removed with all it made."""
    if not TRAINER_IMAGE:
        pytest.skip("TRAINYARD_TEST_TRAINER names no image with the trainer")
    yield NAME
    with Rest(running_trainyard) as rest:
        for made in found(rest):
            rest.delete(made)
            wait_for(partial(gone, real_cluster, made), 60, "its pods to be gone", every=0.2)


def found(rest: Rest) -> list[str]:
    rows = rest.send("GET", f"/workloads?filterBy=name=={NAME}")["workloads"]
    return [str(row["id"]) for row in rows]


def gone(cluster: RealCluster, made: str) -> bool:
    return not cluster.pods(made)


def add_cluster(page: Page, kubeconfig: str) -> None:
    """As its administrator, who pastes the kubeconfig."""
    page.goto("/clusters/new/")
    page.get_by_label("Cluster name").fill(CLUSTER)
    page.get_by_label("Kubeconfig", exact=True).fill(kubeconfig)
    page.get_by_role("button", name="Create cluster").click()
    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}/$"))
    expect(page.get_by_text("Connected", exact=True).first).to_be_visible(timeout=60_000)


def make_compute_resource(page: Page) -> None:
    page.get_by_role("button", name="+NEW COMPUTE RESOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill("a-bit-of-cpu")
    drawer.get_by_label("GPU devices per pod").fill("0")
    drawer.get_by_role("button", name="CREATE COMPUTE RESOURCE").click()
    expect(page.get_by_role("radio", name="a-bit-of-cpu", exact=True)).to_be_checked()


def test_the_quickstart_trains_across_pods(
    workload: str, admin_page: Page, real_cluster: RealCluster, running_trainyard: Trainyard
) -> None:
    page = admin_page
    add_cluster(page, real_cluster.kubeconfig.read_text())
    running_trainyard.manage("add_project", PROJECT, "--cluster", CLUSTER)
    begin(page, workload, cluster=CLUSTER, project=PROJECT)
    make_environment(page, "trainer", TRAINER_IMAGE)
    command(page).fill("python -m trainer mnist")
    page.get_by_label("Arguments", exact=True).fill("--epochs 1")
    page.get_by_label("Number of workers").fill("2")
    make_compute_resource(page)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")

    row = page.locator("tr[data-phase]").filter(has_text=workload)
    expect(row).to_have_attribute("data-phase", "Running", timeout=TRAINED)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=TRAINED)
    with Rest(running_trainyard) as rest:
        (made,) = found(rest)
        pods = rest.pods(made)
    assert pods[0]["exitCode"] == 0  # a worker that is slow to end is cleaned up with its job
    page.goto(f"/workloads/{made}/logs/")
    log = page.get_by_role("log")
    expect(log.get_by_text("Test accuracy: 0.")).to_be_visible(timeout=TRAINED)

    real_cluster.delete_pods(made)
    wait_for(partial(gone, real_cluster, made), 60, "the pods to be gone", every=0.2)
    page.reload()
    for name in RANKS:
        expect(log.get_by_text(name, exact=True).first).to_be_visible()
    for rank in range(len(RANKS)):
        expect(log.get_by_text(f"Rank {rank} of {len(RANKS)}")).to_be_visible()
    expect(log.get_by_text("Test accuracy: 0.")).to_be_visible()
