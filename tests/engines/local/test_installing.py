"""Programs that are installed on first use: before the ranks start, with progress, and again where
it failed. Each workload's has a port of its own."""

import fcntl
import http.client
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from engines.base import EngineUnavailable, Handle, Launch, Observation
from engines.local.apps.catalog import JUPYTERLAB
from engines.local.apps.installing import describe_progress
from engines.local.engine import LocalEngine
from spec.kind import WorkloadKind
from spec.parts.environment import ConnectionType, ToolConnection
from spec.phases import Phase, Reason
from spec.values.variable import EnvironmentVariable
from spec.workload import Replica, WorkloadSpec
from tests.engines.local.conftest import LocalRig
from tests.engines.local.index import only, stand_in
from tests.waiting import wait_for

JUPYTER = ToolConnection(
    name="JupyterLab", connection_type=ConnectionType.CLUSTER_IP, container_port=8888
)


@pytest.fixture
def apps(rig: LocalRig, tmp_path: Path) -> Path:
    """Where the engine of the rig installs what images are called ``lab``."""
    home = tmp_path / "apps"
    images = {"lab:*": ["{app}", "jupyterlab", str(home), "localhost"]}
    rig.engine = LocalEngine(rig.home, images=images, virtual_gpus=4, restart_delay=0.05)
    return home


def notebook(index: Path) -> Launch:
    variables = {**only(index), "STAYS": "1"}
    worker = Replica(
        image="lab",
        args="start-notebook.py",
        connections=(JUPYTER,),
        environment_variables=tuple(
            EnvironmentVariable(name=name, value=value) for name, value in variables.items()
        ),
    )
    spec = WorkloadSpec(kind=WorkloadKind.WORKSPACE, worker=worker)
    return Launch(Handle(uuid4(), "lab", "team-a"), 1, spec)


def now(rig: LocalRig, launched: Launch) -> Observation:
    seen = rig.engine.observe(launched.handle)
    assert seen
    return seen


def answers(rig: LocalRig, launched: Launch) -> bool:
    """Whether the tool does, at the port that it has in its container."""
    try:
        opened = rig.engine.dial(launched.handle, rank=0, port=8888)
    except EngineUnavailable:
        return False
    with opened:
        asking = http.client.HTTPConnection("localhost")
        asking.sock = opened
        asking.request("HEAD", "/")
        return asking.getresponse().status == 200


@pytest.mark.extended
def test_two_notebooks_install_once_after_a_failure_and_both_answer(
    rig: LocalRig, apps: Path, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    first = rig.submit(notebook(tmp_path / "nothing"))
    seen = rig.over(first)
    assert (seen.phase, seen.reason, seen.attempt) == (Phase.FAILED, Reason.REFUSED, 0)
    assert seen.message.startswith("JupyterLab could not be installed. Check that this machine")
    assert "pip: No matching distribution found for jupyterlab" in seen.message
    assert "run this where one is reached: " in rig.log(first)

    index = stand_in(tmp_path / "index")
    again = replace(notebook(index), handle=first.handle, run=2)
    both = [rig.submit(again), rig.submit(notebook(index))]
    messages = set[str]()
    while not all(now(rig, it).phase is Phase.RUNNING for it in both):
        seen = wait_for(lambda: now(rig, again))
        assert seen.phase in {Phase.INITIALIZING, Phase.RUNNING}, seen.message
        messages.add(seen.message)
    assert {it.partition(" ")[0] for it in messages} <= {"Installing", "Waiting", ""}
    assert messages - {""}
    wait_for(lambda: all(answers(rig, it) for it in both))
    logs = [rig.log(again, run=2), rig.log(both[1])]
    assert sum("JupyterLab is installed." in log for log in logs) == 1
    assert all("started --no-browser" in log for log in logs)


def test_a_workload_that_waits_for_the_installation_of_another_can_be_stopped(
    rig: LocalRig, apps: Path, tmp_path: Path
) -> None:
    apps.mkdir()
    with (apps / "jupyterlab.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launched = rig.submit(notebook(tmp_path))
        waits = "Waiting until another workload has installed JupyterLab."
        wait_for(lambda: now(rig, launched).message == waits)
        assert now(rig, launched).phase is Phase.INITIALIZING
        rig.engine.stop(launched.handle, run=1)
        assert rig.over(launched).phase is Phase.STOPPED
    assert rig.processes(launched) == 0


def test_progress_is_what_pip_says_last() -> None:
    output = "Installing JupyterLab: the first time\n"
    assert describe_progress(JUPYTERLAB, output).endswith(": creating its environment.")
    output += "Collecting a\n  Downloading a.whl\nCollecting b\n"
    assert describe_progress(JUPYTERLAB, output).endswith(": 2 packages found.")
    output += "Installing collected packages: a, b, c\n"
    assert describe_progress(JUPYTERLAB, output).endswith(": unpacking 3 packages.")


def test_a_program_of_ones_own_is_told_a_port_for_its_tool(rig: LocalRig) -> None:
    script = "echo $PORT_8888; exec python -m http.server --bind 127.0.0.1 $PORT_8888"
    launches = []
    for _ in range(2):
        launched = rig.shell(script, kind=WorkloadKind.WORKSPACE, distributed_framework=None)
        worker = launched.spec.worker.model_copy(update={"connections": (JUPYTER,)})
        spec = launched.spec.model_copy(update={"worker": worker})
        launches.append(rig.submit(replace(launched, spec=spec)))
    wait_for(lambda: all(answers(rig, it) for it in launches))
    ports = {rig.log(it).split()[0] for it in launches}
    assert len(ports) == 2


def test_a_program_on_the_port_of_its_tool_is_reached(rig: LocalRig) -> None:
    script = "exec python -m http.server --bind 127.0.0.1 8888"
    launched = rig.shell(script, kind=WorkloadKind.WORKSPACE, distributed_framework=None)
    worker = launched.spec.worker.model_copy(update={"connections": (JUPYTER,)})
    launched = replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))
    rig.submit(launched)
    wait_for(lambda: answers(rig, launched))
