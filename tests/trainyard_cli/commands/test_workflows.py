"""Workflows from the command line, with OSMO's options and output."""

import json
import re
from pathlib import Path

import pytest

from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import ProjectFactory
from tests.trainyard_cli.terminal import Terminal
from tests.workflows.graphs import advanced, definitions_of, group, put, submit, workload_of
from workflows.models import Pool, Priority, Workflow
from workloads.logs.store import Stream, append

FILE = """\
workflow:
  name: digits
  tasks:
  - name: train
    image: alpine
    command: [sh, /tmp/train.sh]
    args: ["{{ word }}"]
    environment: {MODE: slow}
    files:
    - {path: /tmp/train.sh, localpath: scripts/train.sh}
"""
SCRIPT = "echo '{{ no template }}'\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.sh").write_text(SCRIPT)
    path = tmp_path / "digits.yaml"
    path.write_text(FILE)
    return path


def test_a_file_is_submitted_with_its_local_files(
    terminal: Terminal, project: Project, file: Path
) -> None:
    line = f"{file} --set word=a=b"
    assert "Workflow validation succeeded." in terminal(f"workflow validate {line}").out
    assert "a=b" in terminal(f"workflow submit {line} --dry-run").out
    assert not Workflow.objects.exists()
    done = terminal(f"workflow submit {line} --set-env MODE=x=y --priority LOW")
    workflow = Workflow.objects.get()
    assert "Workflow submit successful." in done.out
    assert "Workflow ID        - digits-1" in done.out
    assert "LOW priority can be preempted" in done.out
    assert (workflow.priority, workflow.project) == (Priority.LOW, project)
    assert workflow.files_json == {"scripts/train.sh": SCRIPT}
    (variable,) = definitions_of(workflow)[0].document["worker"]["environmentVariables"]
    assert variable == {"name": "MODE", "value": "x=y"}
    assert terminal("workflow spec digits-1 --template").out == FILE
    assert "a=b" in terminal("workflow spec digits-1").out
    again = terminal(f"workflow submit digits-1 -t json -p {project.name}")
    assert json.loads(again.out)["name"] == "digits-2"
    alone = FILE.partition("    files:")[0]
    typed = terminal("workflow submit - --set word=typed", typed=alone)
    assert "Workflow ID        - digits-3" in typed.out


def test_mistakes_are_told_and_nothing_is_submitted(terminal: Terminal, file: Path) -> None:
    assert "file.7" in terminal(f"workflow submit {file}", code=1).err, "word is undefined"
    assert "NAME=VALUE" in terminal(f"workflow submit {file} --set word", code=1).err
    (file.parent / "scripts" / "train.sh").unlink()
    missing = terminal(f"workflow submit {file} --set word=a", code=2)
    assert "train.sh cannot be read" in missing.err
    terminal("workflow submit none.yaml", code=2)
    terminal("workflow submit train-1 --dry-run", code=2)
    terminal("workflow query train-1", code=4)
    assert not Workflow.objects.exists()


def test_workflows_are_listed_queried_canceled_and_restarted(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    assert terminal("workflow list").out == "There are no workflows to view.\n"
    first = submit(project, group("one"), group("two", "one"), by=researcher)
    submit(project, group("one"), by=researcher)
    rows = terminal("workflow list -c 5").rows
    assert " ".join(rows[0]) == "User Workflow ID Submit Time Status Priority Overview"
    assert [row[1] for row in rows[2:]] == ["train-1", "train-2"]
    assert len(terminal("workflow list -s PENDING -o desc -n train-2").rows) == 3
    assert json.loads(terminal("workflow list -t json -u nobody").out) == {"workflows": []}
    terminal("workflow list --submitted-after yesterday", code=2)
    put(first, "one", Phase.FAILED, Reason.RANK_FAILED, code=3)
    advanced(first)
    shown = terminal("workflow query train-1 -v").out
    assert "Status      : FAILED" in shown
    assert "FAILED_UPSTREAM" in shown
    assert "Retry ID" in shown
    done = terminal("workflow cancel train-1 train-2 -m no", code=1)
    assert "Workflow cancelation failed for workflow train-1" in done.err
    assert "Cancel job for workflow train-2 is submitted!" in done.out
    again = terminal("workflow restart train-2").out
    assert "Workflow train-2 restarted." in again
    assert "Workflow ID        - train-3" in again
    terminal("workflow restart train-2 --set word", code=2)


def test_output_and_events_are_printed(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    workflow = submit(project, group("one"), by=researcher)
    append(Stream(workload_of(workflow, "one").pk, 1, 0, 0), b"hello\nworld\n")
    lines = terminal("workflow logs train-1 -n 1 -t one").out.splitlines()
    assert lines[0] == "Workflow train-1 has logs:"
    assert [line.partition("[")[2] for line in lines[1:]] == ["one] world"]
    found = terminal("workflow logs train-1 --query HELLO").out
    assert ("one] hello" in found, "world" in found) == (True, False)
    terminal("workflow logs train-1 -r 1", code=2)
    assert "[one]" in terminal("workflow events train-1").out


def test_pools_are_set_listed_and_used_by_the_file_that_names_one(
    terminal: Terminal, project: Project, researcher: User, file: Path
) -> None:
    terminal("pool set a100 -p team-a", code=1)
    Pool.objects.create(name="a100", project=project, description="Fast nodes")
    heads, _, row = terminal("pool list").out.splitlines()
    assert re.split(" {2,}", heads) == [
        *("Pool", "Description", "Status", "GPU [#] Quota Used", "GPU [#] Quota Limit"),
        *("GPU [#] Total Usage", "GPU [#] Total Capacity"),
    ]
    assert re.split(" {2,}", row) == ["a100", "Fast nodes", "ONLINE", "0", "2", "0", "4"]
    assert terminal("list pools -m free").rows[-1][-2:] == ["2", "4"]
    other = ProjectFactory.create(name="team-b", cluster=project.cluster, members=[researcher])
    Pool.objects.create(name="h100", project=other)
    file.write_text(file.read_text().replace("workflow:\n", "workflow:\n  pool: h100\n", 1))
    terminal(f"workflow submit {file} --set word=a")
    terminal(f"workflow submit {file} --set word=a -p a100")
    placed = Workflow.objects.order_by("label").values_list("project__name", flat=True)
    assert list(placed) == ["team-b", "team-a"]


def test_a_command_runs_in_a_task_only_while_it_runs(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    submit(project, group("one"), group("two", "one"), by=researcher)
    refused = terminal("workflow exec train-1 two --entry date", code=1)
    assert "two does not run; its group is WAITING." in refused.err
    unknown = terminal("workflow exec train-1 three -- date", code=4)
    assert "Its tasks are: one, two." in unknown.err
    terminal("workflow exec train-1 one --entry date -- date", code=2)
    terminal("workflow port-forward train-1 one --port 1:x", code=2)
