"""Workflow files for tests."""

import re
from pathlib import Path
from textwrap import dedent, indent

from config.run.install import ROOT
from spec.formats.lines import LineProblem, YamlError
from workflows.imports.mapping import ImportedWorkflow, map_workflow
from workflows.imports.reading import read_workflow
from workflows.imports.replicas import KnownNames

SEED = (Path(__file__).parent / "samples" / "pytorch_dist_training.yaml").read_text()
READER = """
  - name: reading
    tasks:
    - name: read
      image: alpine
      command: [find, "{{input:0}}", -name, "*.pth"]
      inputs:
      - task: master

default-values:"""
ONE_TASK = """\
workflow:
  name: one
  tasks:
  - name: hello
    image: alpine
    command: [echo]
"""
PIPELINE = """\
workflow:
  name: pipeline
  pool: research
  timeout: {exec_timeout: 10h, queue_timeout: PT10M}
  resources:
    default: {cpu: 4, gpu: 1, memory: 8Gi, platform: a40, nodesExcluded: [node-7]}
  groups:
  - name: evaluate
    ignoreNonleadStatus: true
    barrier: false
    tasks:
    - name: Eval_1
      lead: true
      image: registry.example.com/eval:1
      command: [python, eval.py]
      args: ["{{input:0}}", "{{input:train}}", "{{host:Eval_2}}", "{{workflow_id}}", "$(date)"]
      environment: {DEBUG: true, LEVEL: 3, PRICE: "$(A) $$"}
      inputs:
      - {url: "s3://bucket/data"}
      - {task: train, regex: ".*pth"}
      - {task: "pipeline-3:train"}
      - {url: "file:///srv/mnist"}
    - {name: Eval_2, image: alpine, command: [sleep, "9"]}
  - name: training
    tasks:
    - name: train
      image: alpine
      command: [sh, /run me.sh]
      volumeMounts: [/dev/shm, "/srv/data:/data"]
      files:
      - {path: "/run me.sh", contents: "cp a {{output}}\\n"}
      - {path: /b64, base64: true, contents: dGV4dAo=}
      - {path: "{{output}}/note", contents: hi}
      credentials: {wandb: {WANDB_KEY: key}, ssh: /root/.ssh}
      exitActions: {fail: "1-3,137", RESCHEDULE: 75}
      kpis: [1]
      outputs:
      - {url: "s3://bucket/models"}
      - update_dataset: {name: models, paths: [a, b]}
"""
PROGRAM = "scripts/train_dist.py"


def one_task(lines: str = "", workflow: str = "") -> str:
    """A workflow with one task of three fields. ``lines`` are more of the task, from line 7;
    ``workflow`` are more of the workflow, behind them."""
    return ONE_TASK + indent(dedent(lines), "    ") + indent(dedent(workflow), "  ")


def import_text(text: str, known: KnownNames | None = None, **files: str) -> ImportedWorkflow:
    return map_workflow(read_workflow(text), files=files, known=known)


def problems_of(text: str, known: KnownNames | None = None) -> tuple[LineProblem, ...]:
    """The problems of a file that cannot be imported."""
    try:
        import_text(text, known)
    except YamlError as error:
        return error.problems
    raise AssertionError("the file was imported")


def with_reader(text: str) -> str:
    """A workflow file with another group, which lists the models that its master leaves behind."""
    return text.replace("\n\ndefault-values:", READER, 1)


def without_packages(text: str) -> str:
    """A workflow file without the lines of its scripts that would change this machine."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith(("apt ", "ln -fs ")))


def workflow_of_the_page() -> str:
    """The workflow in docs/workflows.md."""
    page = (ROOT / "docs" / "workflows.md").read_text()
    match = re.search(r"```yaml\n(workflow:.*?)```", page, re.S)
    assert match
    return match[1]
