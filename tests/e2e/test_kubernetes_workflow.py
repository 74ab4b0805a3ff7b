"""On a real cluster, through the whole product: the workflow of OSMO's tutorial on PyTorch, whose
tasks find each other by their names and train together."""

import re
from textwrap import indent
from typing import Any

import pytest

from config.run.install import ROOT
from tests.cluster import TRAINER_IMAGE, RealCluster
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for
from tests.workflows.imports.files import SEED, with_reader, without_packages

pytestmark = [pytest.mark.e2e, pytest.mark.kubernetes]
PROJECT = "vision-workflows"
PROGRAMS = ROOT / "workflows" / "imports" / "programs"
PYTHON = "/usr/local/bin/python3"
#: The image of the tests has busybox in place of these programs, whose options are others.
GREP = f"""\
#!{PYTHON}
import re, sys
pattern = sys.argv[2].replace("\\\\K", ")(?P<kept>")
for line in sys.stdin:
    for match in re.finditer("(?:" + pattern + ")", line):
        print(match["kept"])
"""
SIZE = "processes=2 gpus=0 cpu=0.2 memory=600M"


@pytest.fixture
def rest(running_trainyard: Trainyard, real_cluster: RealCluster) -> Any:
    if not TRAINER_IMAGE:
        pytest.skip("TRAINYARD_TEST_TRAINER names no image with Python, torch and the trainer")
    real_cluster.wipe(f"trainyard-{PROJECT}")
    real_cluster.join(running_trainyard, "workflows", PROJECT)
    with Rest(running_trainyard, PROJECT) as rest:
        yield rest


def with_programs(text: str) -> str:
    """Return the workflow file with what the image of the tests lacks."""
    connect = (PROGRAMS / "nc.py").read_text().replace("/usr/bin/env python3", PYTHON, 1)
    texts = {"nc": connect, "grep": GREP}
    files = "".join(
        f"      - path: /usr/local/bin/{name}\n        contents: |\n{indent(it, ' ' * 10)}"
        for name, it in texts.items()
    )
    text = re.sub(r"image: \S+", f"image: {TRAINER_IMAGE}", text)
    return text.replace("      files:\n", f"      files:\n{files}")


def test_the_tutorial_trains_in_two_pods_and_leaves_its_model(rest: Rest) -> None:
    program = (ROOT / "trainer" / "examples" / "train_dist.py").read_text()
    body = {
        "projectId": rest.project["id"],
        "file": with_programs(with_reader(without_packages(SEED))),
        "files": {"scripts/train_dist.py": program},
        "taskSize": SIZE,
    }
    workflow = rest.send("POST", "/workflows", body)["id"]

    def status() -> str:
        return str(rest.send("GET", f"/workflows/{workflow}")["status"])

    wait_for(lambda: status() not in {"PENDING", "RUNNING"}, 300, "the end of the workflow")
    logs = rest.http.get(f"/workflows/{workflow}/logs").text
    assert status() == "COMPLETED", logs
    parameters = re.findall(r"Rank [0-9]+ parameters ([0-9a-f]+)", logs)
    assert len(parameters) >= 2
    assert len(set(parameters)) == 1
    assert re.search(r"/osmo/data/input/0/model/\S*model_rank_0.pth", logs)
