"""The main job on a real Slurm: the same wizard, one master and two workers as tasks of a job."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import slurm_testbed
from tests.e2e import hpc
from tests.e2e.walk import begin, command, make_environment
from tests.engines.slurm import tutorial
from tests.product import Trainyard
from tests.rest import ENDS, Rest
from tests.slurm_testbed import NO_SLURM, Testbed
from tests.trainyard_cli.terminal import Terminal
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slurm]

CLUSTER = "hpc"
PROJECT = "research"
NAME = "under-srun"
TRAINED = 300_000  # milliseconds; three times torch beside other tests, on two cores
RANKS = ("master-0", "worker-0", "worker-1")


@pytest.fixture(scope="module")
def testbed() -> Iterator[Testbed]:
    found = Testbed.running()
    if found is None:
        pytest.skip(NO_SLURM)
    yield found
    shutil.rmtree(hpc.directory(found), ignore_errors=True)


@pytest.fixture(scope="module")
def rest(testbed: Testbed, running_trainyard: Trainyard) -> Iterator[Rest]:
    """With a project on a cluster, which is the one of an earlier test or is added over REST."""
    with Rest(running_trainyard) as there:
        clusters = there.send("GET", "/clusters")
        if not any(it["name"] == CLUSTER for it in clusters):
            there.send("POST", "/clusters", hpc.connecting(testbed, CLUSTER))
    running_trainyard.manage("add_project", "physics", "--cluster", CLUSTER)
    with Rest(running_trainyard, "physics") as rest:
        yield rest


def make_compute_resource(page: Page) -> None:
    page.get_by_role("button", name="+NEW COMPUTE RESOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill("one-gpu-each")
    drawer.get_by_label("GPU devices per pod").fill("1")
    drawer.get_by_role("button", name="CREATE COMPUTE RESOURCE").click()
    expect(page.get_by_role("radio", name="one-gpu-each", exact=True)).to_be_checked()


def test_the_quickstart_trains_under_srun(
    admin_page: Page, testbed: Testbed, running_trainyard: Trainyard
) -> None:
    page = admin_page
    hpc.add_cluster(page, testbed, CLUSTER)
    running_trainyard.manage("add_project", PROJECT, "--cluster", CLUSTER, "--gpus", "4")
    begin(page, NAME, cluster=CLUSTER, project=PROJECT)
    make_environment(page, "trainer", "some/image")
    command(page).fill("python -m trainer mnist")
    page.get_by_label("Arguments", exact=True).fill("--epochs 1")
    page.get_by_label("Number of workers").fill("2")
    make_compute_resource(page)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")

    row = page.locator("tr[data-phase]").filter(has_text=NAME)
    expect(row).to_have_attribute("data-phase", "Running", timeout=TRAINED)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=TRAINED)
    with Rest(running_trainyard, PROJECT) as rest:
        (row_of_it,) = rest.send("GET", f"/workloads?filterBy=name=={NAME}")["workloads"]
        uid = str(row_of_it["id"])
        pods = rest.pods(uid)
        assert [pod["exitCode"] for pod in pods] == [0, 0, 0]
        assert all(pod["nodeName"].startswith("n") for pod in pods), pods
        page.goto(f"/workloads/{uid}/logs/")
        log = page.get_by_role("log")
        for rank, name in enumerate(RANKS):
            expect(log.get_by_text(name, exact=True).first).to_be_visible()
            expect(log.get_by_text(f"Rank {rank} of 3")).to_be_visible()
        expect(log.get_by_text("Test accuracy: 0.")).to_be_visible()
        page.goto(f"/workloads/{uid}/metrics/")
        expect(page.get_by_text("Loss", exact=True)).to_be_visible()
        page.goto(f"/workloads/{uid}/events/")
        expect(page.get_by_text("Started: on n").first).to_contain_text("3 GPUs")
        rest.delete(uid)
        gone = f"{hpc.directory(testbed)}/workloads/{uid.replace('-', '')}"
        wait_for(lambda: not Path(gone).exists(), 60, "its files to be gone", every=0.2)


def slow_training(rest: Rest, name: str) -> str:
    """Long enough to be interrupted after its first checkpoint."""
    flags = "-m trainer mnist --epochs 9 --checkpoint-every 5 --step-delay 0.1"
    return rest.submit(name, workers=1, command="python", args=flags)


def has_checkpoint(rest: Rest, uid: str) -> bool:
    return '"event": "checkpoint"' in rest.log(uid)


def was_resumed(rest: Rest, uid: str) -> bool:
    return '"event": "resumed"' in rest.log(uid)


def test_a_stopped_training_goes_on_from_its_checkpoint(rest: Rest) -> None:
    uid = slow_training(rest, "in-two-parts")
    wait_for(lambda: has_checkpoint(rest, uid), 90, "a checkpoint", every=0.5)
    rest.act(uid, "suspend")
    assert rest.wait(uid, *ENDS) == "Stopped"
    rest.act(uid, "resume")
    wait_for(lambda: was_resumed(rest, uid), 90, "it to go on", every=0.5)
    rest.delete(uid)


def tells_of_failed_node(rest: Rest, uid: str, node: str) -> bool:
    """Seen in the queue, or told by accounting: here a job waits for five seconds alone."""
    said = [str(event["message"]) for event in rest.events(uid)]
    return any(text.startswith(("NodeFailed", f"{node} failed")) for text in said)


def test_a_training_goes_on_from_its_checkpoint_when_its_node_dies(
    admin_page: Page, rest: Rest, testbed: Testbed
) -> None:
    page = admin_page
    uid = slow_training(rest, "on-a-bad-node")
    page.goto(f"/workloads/{uid}/")
    wait_for(lambda: has_checkpoint(rest, uid), 90, "a checkpoint", every=0.5)
    head = page.locator("#workload-head")
    expect(head.locator(".chip").first).to_have_text("Running")
    node = rest.pods(uid)[0]["nodeName"]
    slurm_testbed.run("kill", "node", node)
    testbed.give_up(node)
    try:
        expect(head).to_contain_text("Continued from step", timeout=150_000)
    finally:
        slurm_testbed.run("start", "node", node)
    expect(head).to_contain_text("attempt 2")
    wait_for(lambda: tells_of_failed_node(rest, uid, node), 60, "the history to say so", every=0.5)
    page.goto(f"/workloads/{uid}/logs/")
    expect(page.get_by_role("log").get_by_text("resumed after step").first).to_be_visible()
    assert {pod["nodeName"] for pod in rest.pods(uid)}.isdisjoint({node})
    assert rest.read(uid)["phase"] in {"Running", "Completed"}
    rest.delete(uid)


@pytest.fixture
def example(testbed: Testbed) -> Iterator[str]:
    with tutorial.followed(testbed.transport(), hpc.directory(testbed)) as folder:
        yield folder


def submit_on_page(page: Page, script: Path, name: str) -> None:
    """As a person does it: the file is chosen, read, looked at, submitted."""
    page.goto("/workloads/")
    page.get_by_role("button", name="+NEW WORKLOAD").click()
    page.get_by_role("link", name="From a batch script").click()
    page.get_by_label("From a file").set_input_files(script)
    expect(page.get_by_label("Batch script", exact=True)).to_have_value(script.read_text())
    page.get_by_label("Project", exact=True).select_option(label="physics")
    page.get_by_label("Workload name").fill(name)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_role("heading", name="It runs as it stands")).to_be_visible()
    page.get_by_role("button", name="Create training").click()
    page.wait_for_url("**/workloads/")


def signed_in(trainyard: Trainyard, folder: Path) -> Terminal:
    terminal = Terminal(trainyard.url, folder / "trainyard.json")
    terminal.sign_in(trainyard.username, trainyard.password)
    return terminal


def test_batch_scripts_run_byte_for_byte_by_page_rest_and_command(
    admin_page: Page,
    running_trainyard: Trainyard,
    rest: Rest,
    testbed: Testbed,
    example: str,
    tmp_path: Path,
) -> None:
    """Both examples of the tutorial, each in all three ways."""
    page = admin_page
    terminal = signed_in(running_trainyard, tmp_path)
    where = {"projectId": rest.project["id"], "clusterId": rest.project["clusterId"]}
    submitted: dict[str, Path] = {}
    for program in tutorial.PROGRAMS:
        script = tmp_path / f"{program}.sh"
        script.write_text(tutorial.settled(program, example))
        by_page, by_rest, by_command = (
            f"{program.lower()}-by-{way}" for way in ("page", "rest", "command")
        )
        submit_on_page(page, script, by_page)
        rest.send(
            "POST",
            "/workloads/from-sbatch",
            where | {"name": by_rest, "script": script.read_text()},
        )
        said = terminal(f"submit-sbatch {script} --name {by_command} -p physics").out
        assert f"Submitted {by_command}." in said
        submitted |= dict.fromkeys((by_page, by_rest, by_command), script)
    for name, script in submitted.items():
        follow_script(page, rest, hpc.directory(testbed), name, script)


def follow_script(page: Page, rest: Rest, shared: str, name: str, script: Path) -> None:
    """To its end, its bytes, and its log, in which the loss falls."""
    page.goto("/workloads/")
    row = page.locator("tr[data-phase]").filter(has_text=name)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=TRAINED)
    (workload,) = rest.send("GET", f"/workloads?filterBy=name=={name}")["workloads"]
    folder = f"{shared}/workloads/{workload['id'].replace('-', '')}"
    assert Path(f"{folder}/runs/1/script.sh").read_bytes() == script.read_bytes()
    page.goto(f"/workloads/{workload['id']}/logs/")
    log = page.get_by_role("log")
    expect(log.get_by_text("conda activate ddp")).to_be_visible()
    for rank in range(2):
        expect(log.get_by_text(f"Rank {rank} of 2 (local rank 0) by srun")).to_be_visible()
    losses = [float(it) for it in re.findall(r'"loss": ([0-9.]+)', rest.log(workload["id"]))]
    assert losses[-1] < losses[0] / 1.2
    assert len({pod["nodeName"] for pod in rest.pods(workload["id"])}) == 2
    rest.delete(workload["id"])
    page.goto("/workloads/")
