"""What every command takes, wherever it stands in the line."""

import json

import pytest

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.app import REFUSED, main

IMAGE = "-i kubeflow/pytorch-dist-mnist:latest"


@pytest.mark.parametrize("line", ["-q project set {}", "project set {} --quiet"])
def test_quiet_commands_print_no_notes_but_their_errors(
    terminal: Terminal, project: Project, researcher: User, line: str
) -> None:
    assert terminal(line.format("team-a")).err == ""
    assert "There is no project team-b" in terminal(line.format("team-b"), code=4).err
    assert "Project team-a is set." in terminal("project set team-a").err


def test_a_quiet_submission_prints_its_result_alone(terminal: Terminal) -> None:
    done = terminal(f"training pytorch submit mnist {IMAGE} -q")
    assert (done.out, done.err) == ("Submitted mnist.\n", "")


@pytest.mark.parametrize(
    ("flag", "requests", "note"),
    [
        *[("--loglevel debug", True, True), ("--debug", True, True), ("-d", True, True)],
        *[("--verbose", True, True), ("--loglevel info", False, True)],
        *[("--loglevel warn", False, False), ("--loglevel error", False, False)],
    ],
)
def test_a_level_says_what_is_printed_besides(
    terminal: Terminal, flag: str, requests: bool, note: bool
) -> None:
    for line in (f"{flag} list jobs", f"list jobs {flag}"):
        printed = terminal(line).err
        assert ("GET /api/v1/workloads 200" in printed) == requests
        assert ("No workloads in project team-a yet." in printed) == note


def test_a_level_that_is_none_is_told(terminal: Terminal) -> None:
    assert "debug" in terminal("list jobs --loglevel loud", code=2).err


def test_the_next_command_prints_its_notes_again(terminal: Terminal) -> None:
    terminal("-q list jobs")
    assert "No workloads" in terminal("list jobs").err


def test_documents_are_asked_for_as_with_run_ai(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="mnist", running=True)
    for flag in ("--json", "-o json"):
        assert json.loads(terminal(f"training list {flag}").out)[0]["name"] == "mnist"
    assert "name: mnist" in terminal("training list --yaml").out
    assert terminal("training list --table").out.startswith("Showing jobs")


def test_switches_may_have_their_value_behind_them(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="mnist", running=True)
    whole = terminal("describe job mnist").out
    short = terminal("describe job mnist --pods=false --events=false --general=false").out
    assert short.splitlines() == [it for it in whole.splitlines() if "GPU" in it or "CPU" in it][:2]
    assert "mnist-worker-1" in terminal("describe job mnist --pods=true").out
    spec = terminal(f"training pytorch submit a {IMAGE} --large-shm=true --stdin=false --dry-run")
    assert "largeShmRequest: true" in spec.out
    assert "stdin: false" in spec.out


def test_the_file_of_the_sign_in_may_be_named_by_its_folder(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    there = terminal.config.rename(terminal.config.with_name("config.json"))
    assert main(["--config-path", str(there.parent), "whoami"]) == 0
    assert "ada" in capsys.readouterr().out


@pytest.mark.parametrize("word", REFUSED)
def test_words_that_have_no_place_here_are_refused_with_what_to_do(
    nobody: Terminal, word: str
) -> None:
    done = nobody(f"{word} set", code=2)
    assert f"There is no command {word}." in done.err
    assert REFUSED[word] in done.err


def test_no_cluster_is_set(terminal: Terminal, project: Project, researcher: User) -> None:
    ProjectFactory(cluster=project.cluster, members=[researcher])
    for line in ("config cluster here", "cluster set here"):
        assert "trainyard project set" in terminal(line, code=2).err
