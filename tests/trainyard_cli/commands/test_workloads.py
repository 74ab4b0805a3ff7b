"""Describing, stopping, running, deleting and waiting, against rows that are there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.factories import ProjectFactory, WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands import waiting
from workloads.history import events
from workloads.models import Workload

IMAGE = "-i kubeflow/pytorch-dist-mnist:latest"


def at_once(*_: object, **__: object) -> Iterator[None]:
    """In the place of the stream of changes: it says to look, and no more."""
    yield


@pytest.fixture
def running(project: Project, researcher: User) -> Workload:
    return WorkloadFactory(project=project, name="mnist", running=True, created_by=researcher)


@pytest.mark.parametrize(
    "line",
    [
        *("describe job mnist", "describe job -p team-b mnist", "workload describe mnist"),
        *("training describe mnist", "training pytorch describe mnist"),
    ],
)
def test_a_workload_is_described_in_two_requests(
    terminal: Terminal, project: Project, researcher: User, running: Workload, line: str
) -> None:
    other = ProjectFactory(name="team-b", cluster=project.cluster, members=[researcher])
    WorkloadFactory(project=other, name="mnist", running=True, created_by=researcher)
    terminal("whoami")
    done = terminal(f"--debug {line}")
    assert len(done.err.splitlines()) == 2
    for words in ("Name:", "Running", "mnist-master-0", "mnist-worker-1", "Command line:"):
        assert words in done.out
    assert "trainyard training pytorch submit mnist" in done.out


def test_the_first_pod_of_mpi_is_its_launcher(terminal: Terminal, project: Project) -> None:
    WorkloadFactory(project=project, name="pi", running=True, framework="MPI")
    rows = terminal("describe job pi --general=false --compute=false").rows
    roles = [row[2] for row in rows if row and row[0].startswith("pi-")]
    assert roles == ["launcher", "worker", "worker"]


def test_a_description_is_a_document_too(terminal: Terminal, running: Workload) -> None:
    whole = json.loads(terminal("describe job mnist -o json").out)
    assert (whole["id"], len(whole["pods"])) == (str(running.pk), 3)
    assert whole["spec"]["numWorkers"] == 2
    assert terminal("describe job mnist --pod-limit 1").out.count("mnist-worker") == 0


def test_a_line_with_whole_files_in_it_is_left_out(
    terminal: Terminal, project: Project, running: Workload
) -> None:
    files = [{"name": "train.py", "content": "pass\n" * 1000}]
    volume = {"mountPath": "/code", "files": files}
    running.spec_json["worker"]["storage"] = {"configMapVolume": [volume]}
    running.save(update_fields=["spec_json"])
    described = terminal("describe job mnist").out
    assert described.endswith("instead: trainyard workload export mnist\n")
    assert "pass" in terminal("workload export mnist").out


def test_events_are_sorted_as_asked(terminal: Terminal, running: Workload) -> None:
    for text in ("first", "second"):
        events.record_note(running, text, source="engine")
    up = terminal("describe job mnist").out
    down = terminal("describe job mnist --sortEvents desc").out
    assert up.index("first") < up.index("second")
    assert down.index("second") < down.index("first")


def test_ports_and_tools_are_listed(terminal: Terminal) -> None:
    terminal(f"workspace submit notes {IMAGE} --cpu 0.1 --external-url container=8888 -- sleep 1")
    lines = terminal("describe job notes --general=false --compute=false").rows
    assert lines[0][:2] == ["Ports:", "8888"]
    url = lines[1][-1]
    path = f"/workloads/{Workload.objects.get().pk}/connect/port-8888/"
    assert url == f"{terminal.server}{path}"
    assert terminal("list jobs --no-headers").rows[0][-1] == url


def test_a_workload_is_found_by_its_id_in_any_project(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    other = ProjectFactory(cluster=project.cluster, members=[researcher])
    elsewhere = WorkloadFactory(project=other, name="mnist")
    assert terminal(f"describe job {elsewhere.pk} -o name").out == "mnist\n"
    assert terminal(f"describe job mnist -p {other.name} -o name").out == "mnist\n"
    done = terminal("describe job mnist", code=4)
    assert "There is no workload mnist in project team-a." in done.err


def test_each_kind_knows_its_own_alone(
    terminal: Terminal, project: Project, running: Workload
) -> None:
    line = "training submit alone -i kubeflow/pytorch-dist-mnist:latest --cpu 0.1 -- sleep 1"
    terminal(line)
    assert terminal("training list -o name").out.split() == ["alone", "mnist"]
    assert terminal("training standard list -o name").out == "alone\n"
    assert terminal("distributed list -o name").out == "mnist\n"
    assert terminal("training mpi list -o name").out == ""
    assert terminal("workspace list -o name").out == ""
    assert "of this kind" in terminal("workspace describe mnist", code=4).err


def test_workloads_are_suspended_resumed_and_deleted(
    terminal: Terminal, running: Workload, project: Project
) -> None:
    terminal("suspend mnist")
    running.refresh_from_db()
    assert running.phase == Phase.STOPPING
    assert "mnist" in terminal("training suspend mnist", code=1).err
    done = WorkloadFactory(project=project, name="old", stopped=True)
    terminal("resume old")
    done.refresh_from_db()
    assert done.run == 2
    terminal("delete job mnist old")
    for workload in (running, done):
        workload.refresh_from_db()
        assert workload.phase == Phase.DELETING


def test_limits_of_rules_are_extended_once_by_their_owner(
    terminal: Terminal, running: Workload, researcher: User
) -> None:
    assert "no limit that can be extended" in terminal("extend mnist", code=1).err
    rule = {"source": "department research", "extendedSeconds": 9000}
    running.rule_time_limit_seconds = 6000
    running.rules_json = {"rule_time_limit_seconds": rule}
    running.created_by = researcher
    running.save()
    assert terminal("extend mnist").err == "mnist may run for 2h30m.\n"
    running.refresh_from_db()
    assert running.rule_time_limit_seconds == 9000
    assert "extended already" in terminal("workload extend mnist", code=1).err


@pytest.mark.parametrize(
    ("phase", "exit_code", "code"),
    [("Completed", 0, 0), ("Failed", 7, 7), ("Failed", None, 1), ("Stopped", 0, 1)],
)
def test_the_result_of_a_watched_workload_is_that_of_the_command(
    terminal: Terminal,
    running: Workload,
    monkeypatch: pytest.MonkeyPatch,
    phase: str,
    exit_code: int | None,
    code: int,
) -> None:
    monkeypatch.setattr(waiting, "pulses", at_once)
    running.ranks.filter(rank=1).update(exit_code=exit_code)
    Workload.objects.filter(pk=running.pk).update(phase=phase)
    done = terminal("workload watch mnist", code=code)
    assert done.err.splitlines()[0] == f"mnist: {phase}"


def test_a_submission_waits_for_the_end_and_tells_each_phase(
    terminal: Terminal, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_by(*_: object, **__: object) -> Iterator[None]:
        yield
        for phase in ("Pending", "Running", "Running", "Completed"):
            Workload.objects.filter(name="train").update(phase=phase)
            yield

    monkeypatch.setattr(waiting, "pulses", pass_by)
    image = "-i kubeflow/pytorch-dist-mnist:latest"
    done = terminal(f"training pytorch submit train {image} --wait")
    assert done.out == "Submitted train.\n"
    lines = [line for line in done.err.splitlines() if line.startswith("train: ")]
    assert lines == ["train: Creating", "train: Pending", "train: Running", "train: Completed"]


def test_a_workload_deleted_during_the_wait_is_no_success(
    terminal: Terminal, running: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_by(*_: object, **__: object) -> Iterator[None]:
        yield
        Workload.objects.filter(pk=running.pk).delete()
        yield

    monkeypatch.setattr(waiting, "pulses", pass_by)
    assert "was deleted while" in terminal("workload watch mnist", code=1).err


def test_an_exported_workload_is_submitted_again_with_the_same_spec(
    terminal: Terminal, tmp_path: Path
) -> None:
    for line in (
        f"training pytorch submit first {IMAGE} --workers 2 -g 0.1 --master-cpu 1 -- --epochs 3",
        f"training submit second {IMAGE} --cpu 0.1 -- sleep 1",
    ):
        command = line.split(" submit ")[0]
        terminal(line)
        name = line.split()[line.split().index("submit") + 1]
        path = tmp_path / f"{name}.yaml"
        path.write_text(terminal(f"workload export {name}").out)
        terminal(f"{command} submit again-{name} -f {path}")
        first, again = (Workload.objects.get(name=it) for it in (name, f"again-{name}"))
        assert again.spec_json == first.spec_json
    terminal("workload export first -o wide", code=2)
