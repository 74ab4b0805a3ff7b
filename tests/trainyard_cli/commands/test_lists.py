"""Lists: as tables that other programs read, as documents, as names."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest
import yaml

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, WorkloadFactory, remove_members
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands import workloads
from workloads.models import Workload


def test_jobs_of_the_project_are_listed_with_what_they_hold(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    WorkloadFactory(project=project, name="mnist", running=True, created_by=researcher)
    elsewhere = ProjectFactory(cluster=project.cluster, members=[researcher])
    WorkloadFactory(project=elsewhere, name="other")
    done = terminal("list jobs")
    assert done.out.splitlines()[0] == "Showing jobs for project team-a"
    heads, row = done.out.splitlines()[1:]
    assert heads.split("  ")[0] == "NAME"
    cells = [cell for cell in row.split("  ") if cell]
    assert [cells[0], cells[1].strip()] == ["mnist", "Running"]
    assert "PyTorch" in row
    assert {"mnist", "other"} == set(terminal("list jobs -A -o name").out.split())
    assert terminal(f"list jobs -p {elsewhere.name} -o name").out.split() == ["other"]


def test_jobs_are_listed_with_their_nodes(terminal: Terminal, project: Project) -> None:
    for name, nodes in (
        ("spread", ("n1", "n2", "n2")),
        ("packed", ("n1",) * 3),
        ("new", ("",) * 3),
    ):
        workload = WorkloadFactory(project=project, name=name, running=True)
        for rank, node in zip(workload.ranks.all(), nodes, strict=True):
            workload.ranks.filter(pk=rank.pk).update(node=node)
    rows = terminal("list jobs --no-headers").rows
    assert {row[0]: row[3] for row in rows} == {"spread": "<multiple>", "packed": "n1", "new": "–"}


def test_jobs_are_filtered_by_status_and_text(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="one", running=True)
    WorkloadFactory(project=project, name="two", failed=True)
    for status in ("Failed", "failed"):
        assert terminal(f"list jobs --status {status} -o name").out == "two\n"
    done = terminal("list jobs --status Nonsense", code=2)
    told = "trainyard: --status: 'Nonsense' is not a value of this field. Known: Creating, Pending"
    assert done.err.startswith(told)
    assert terminal("list jobs --search on -o name").out == "one\n"


def test_more_jobs_than_were_asked_for_are_announced(terminal: Terminal, project: Project) -> None:
    for number in range(3):
        WorkloadFactory(project=project, name=f"run-{number}")
    done = terminal("list jobs --limit 2 --no-headers")
    assert [row[0] for row in done.rows] == ["run-2", "run-1"]
    assert done.err == "There are more: --offset 2\n"
    assert terminal("list jobs --limit 2 --offset 2 -o name").out == "run-0\n"


def test_a_watched_list_continues_with_a_line_for_each_change(
    terminal: Terminal, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = WorkloadFactory(project=project, name="one", running=True)

    def pass_by(*_: object, **__: object) -> Iterator[None]:
        yield
        WorkloadFactory(project=project, name="two")
        yield
        Workload.objects.filter(pk=one.pk).update(phase="Completed")
        yield
        Workload.objects.filter(pk=one.pk).delete()
        yield

    monkeypatch.setattr(workloads, "pulses", pass_by)
    rows = terminal("list jobs --watch --no-headers").rows
    assert [row[0] for row in rows] == ["one", "two", "one", "one"]
    assert [row[1] for row in rows[2:]] == ["Completed", "Deleted"]
    done = terminal("list jobs --watch -o json", code=2)
    assert ("for each change" in done.err, done.out) == (True, "")


def test_a_row_that_comes_back_to_a_watched_list_is_no_change(
    terminal: Terminal, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    WorkloadFactory(project=project, name="one", running=True)

    def pass_by(*_: object, **__: object) -> Iterator[None]:
        two = WorkloadFactory(project=project, name="two")
        yield
        Workload.objects.filter(pk=two.pk).delete()
        yield

    monkeypatch.setattr(workloads, "pulses", pass_by)
    rows = terminal("list jobs --watch --limit 1 --no-headers").rows
    assert [row[:2] for row in rows] == [
        ["one", "Running"],
        ["two", "Creating"],
        ["two", "Deleted"],
    ]


def test_the_list_without_a_word_is_that_of_jobs(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    elsewhere = ProjectFactory(cluster=project.cluster, members=[researcher])
    WorkloadFactory(project=elsewhere, name="other")
    assert terminal("list -o name").out == ""
    assert terminal("list -A -o name").out == "other\n"
    assert "trainyard list jobs …" in terminal("list -A jobs", code=2).err


def test_a_node_is_described_by_its_name(terminal: Terminal, project: Project) -> None:
    node = project.cluster.nodes.get()
    for line in ("describe node", "node describe"):
        assert terminal(f"{line} {node.name}").rows[0] == ["Node:", node.name]
    assert json.loads(terminal(f"describe node {node.name} -o json").out)[0]["name"] == node.name
    assert "trainyard node list" in terminal("describe node nowhere", code=4).err


def test_a_project_that_is_gone_is_not_an_empty_one(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    remove_members(project, researcher)
    for line in ("list jobs", "describe job mnist"):
        done = terminal(line, code=4)
        assert "Project team-a, which is set, was not found" in done.err
        assert "trainyard project set" in done.err


LISTS = "list jobs|list projects|project list|cluster list|node list|nodepool list"


@pytest.mark.parametrize("line", LISTS.split("|"))
def test_every_list_has_every_form(terminal: Terminal, project: Project, line: str) -> None:
    WorkloadFactory(project=project, name="mnist")
    as_json = terminal(f"{line} -o json").out
    as_yaml = terminal(f"{line} -o yaml").out
    every = json.loads(as_json)
    assert [it.keys() for it in every] == [it.keys() for it in yaml.safe_load(as_yaml)] != []
    names = terminal(f"{line} -o name").out.split()
    assert names == [it["name"] for it in every]
    plain = terminal(line).out
    wide = terminal(f"{line} -o wide").out
    assert len(plain.splitlines()[-1]) <= len(wide.splitlines()[-1])
    without = terminal(f"{line} --no-headers").out
    rows = " ".join(plain.splitlines()[-len(names) :])
    assert ageless(without) == ageless(rows)


def ageless(text: str) -> list[str]:
    """The cells, of which the age changes from one command to the next."""
    return [cell for cell in text.split() if not re.fullmatch(r"\d+s", cell)]


def test_a_list_costs_at_most_two_requests(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="mnist")
    terminal("whoami")
    for line in LISTS.split("|"):
        calls = terminal(f"--debug {line}").err.splitlines()
        assert len(calls) <= 2, calls


def test_a_command_that_does_not_exist_suggests_one_that_does(nobody: Terminal) -> None:
    done = nobody("nodde list", code=2)
    assert "Did you mean" in done.err
    assert shlex.quote("node") in done.err


def test_words_after_two_dashes_belong_to_submissions_alone(nobody: Terminal) -> None:
    assert "takes nothing after --" in nobody("list jobs -- python", code=2).err


def test_queues_of_kueue_are_listed_by_project(terminal: Terminal, project: Project) -> None:
    assert "No queues of Kueue in project team-a." in terminal("queue list").err
    cluster = project.cluster
    cluster.kind = "kubernetes"
    cluster.settings_json = {"namespace_prefix": "trainyard-"}
    quota = {"resource": "nvidia.com/gpu", "nominal": 8, "most": 8, "most_of_role": 8}
    queue = {"namespace": "trainyard-team-a", "name": "team", "cluster_queue": "gpus"}
    cluster.capabilities_json |= {
        "kueue": "v1beta2",
        "local_queues": [queue | {"quotas": [quota]}],
    }
    cluster.save()
    project.default_queue = "team"
    project.save()
    assert terminal("queue list --no-headers").rows == [["team", "gpus", "8", "yes", "yes"]]
