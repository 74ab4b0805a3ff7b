"""Workflows on a real Slurm: each group is a job, whose tasks have their files, host names and
inputs, and hand on what they leave behind."""

from contextlib import suppress
from typing import Any

import pytest

from assets.data_source.datasets.uses import find_dataset, find_version
from config.run.install import ROOT
from engines.base import EngineUnavailable, Handle
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.site import SlurmSite
from tests.e2e import hpc
from tests.engines.reading import output
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for
from tests.workflows.imports.files import (
    PROGRAM,
    SEED,
    with_reader,
    without_packages,
    workflow_of_the_page,
)
from workflows import keeping, running, services
from workflows.models import Workflow
from workflows.reading import WorkflowFile, read_file
from workflows.statuses import Status
from workloads.models import Workload
from workloads.worker import dispatch, monitor

pytestmark = pytest.mark.slurm

TRAINING = {PROGRAM: (ROOT / "trainer" / "examples" / "train_dist.py").read_text()}
MORE_MEMORY = "memory=1500M"  # Slurm holds tasks to what they request
SIZE = "processes=1 gpus=0 cpu=1 memory=1500M"
EXCHANGE = """\
workflow:
  name: exchange
  groups:
  - name: first
    tasks:
    - name: ask
      lead: true
      image: alpine
      command: [bash, /ty/ask.sh]
      files:
      - path: /ty/ask.sh
        contents: |
          getent hosts {{host:Answer_1}} && echo {{workflow_id}} > {{output}}/name
          mkdir {{output}}/all && cp /ty/word {{output}}/all/word
      - {path: /ty/word, contents: hello}
      outputs:
      - dataset: {name: words, path: all}
    - name: Answer_1
      image: alpine
      command: [sleep, "600"]
  - name: second
    tasks:
    - name: read
      image: alpine
      command: [bash, -c]
      args: ["cat {{input:0}}/name {{input:ask}}/all/word; touch {{input:0}}/x 2>&- || echo kept"]
      inputs:
      - task: ask
"""


class Slurm:
    """Plays the worker for the workflows of a project."""

    def __init__(self, pages: Pages) -> None:
        self.project = pages.project
        self.pages = pages
        self.by = pages.member

    def run(self, text: str, **given: Any) -> Workflow:
        """Submit a workflow file, and return the workflow once it has ended."""
        file = WorkflowFile(text, **given)
        read = read_file(file, project=self.project, by=self.by)
        workflow = services.submit(read.graph, project=self.project, by=self.by, text=read.text)
        wait_for(lambda: self._advance(workflow), 500, f"the end of {workflow}", every=0.5)
        return workflow

    def _advance(self, workflow: Workflow) -> bool:
        running.advance(workflow.pk)
        workflow.refresh_from_db()
        self.pages.connect()
        with suppress(EngineUnavailable):
            dispatch.hand_over(self.project.cluster)
        for handle in self.handles():
            if shown := self.pages.rig.engine.observe(handle):
                monitor.apply_observation(shown)
        keeping.keep_outputs(workflow.pk)
        return workflow.is_finished

    def handles(self) -> list[Handle]:
        rows = Workload.objects.order_by("created_at")
        return [Handle(row.pk, row.name, self.project.name) for row in rows]

    def printed(self) -> list[str]:
        """Return what the ranks of all workloads printed, one after the other."""
        engine = self.pages.rig.engine
        return [
            output(engine, handle, log).decode()
            for handle in self.handles()
            for log in engine.logs(handle, run=1)
        ]


@pytest.fixture
def slurm(pages: Pages, rig: SlurmRig) -> Slurm:
    rig.need_mounts()
    site = SlurmSite(rig.site.directory, prologue=hpc.prologue())
    rig.engine = SlurmEngine(rig.transport, site, interval=0.5)
    return Slurm(pages)


def test_files_names_and_outputs_go_from_task_to_task(slurm: Slurm) -> None:
    workflow = slurm.run(EXCHANGE)
    assert workflow.status == Status.COMPLETED, slurm.printed()
    ask, _, read = slurm.printed()
    assert ask.split()[1:] == ["answer-1-0", "answer-1"]
    assert read.splitlines() == ["exchange-1", "hellokept"]
    dataset = find_dataset("words", slurm.project)
    assert dataset
    version = find_version(dataset)
    assert version
    assert version.maker == "exchange-1 ask"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (workflow_of_the_page(), {"variables": {"gpus": 0}, "task_size": MORE_MEMORY}),
        (without_packages(SEED), {"task_size": SIZE}),
    ],
    ids=["page", "tutorial"],
)
def test_the_tasks_of_a_workflow_train_together(
    slurm: Slurm, text: str, given: dict[str, Any]
) -> None:
    workflow = slurm.run(with_reader(text), files=TRAINING, **given)
    assert workflow.status == Status.COMPLETED, slurm.printed()
    assert any("/osmo/data/input/0/model/" in text for text in slurm.printed())
