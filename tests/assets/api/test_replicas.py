"""Whether an asset suits the workers or the master of a distributed workload."""

from typing import Any

from projects.models import Project
from tests.caller import Caller
from tests.factories import EnvironmentFactory

PATH = "/asset/environment"


def test_workers_and_masters_are_of_a_distributed_workload(call: Caller, project: Project) -> None:
    of = f"{PATH}?complyToProject={project.pk}&complyToReplicaType=Worker"
    assert call("GET", f"{of}&complyToWorkloadType=distributed")[0] == 200
    for asked in (of, f"{of}&complyToWorkloadType=workspace"):
        status, answer = call("GET", asked)
        assert status == 400
        assert "others have one pod" in str(answer)


def test_an_environment_of_a_framework_without_a_master_suits_workers_alone(
    call: Caller, project: Project
) -> None:
    EnvironmentFactory(home=project, name="jax", framework="JAX")
    EnvironmentFactory(home=project, name="mpi", framework="MPI")
    of = f"{PATH}?complyToProject={project.pk}&complyToWorkloadType=distributed"

    def judged(replica: str) -> dict[str, Any]:
        entries = call("GET", f"{of}&complyToReplicaType={replica}")[1]["entries"]
        return {entry["meta"]["name"]: entry["compliance"] for entry in entries}

    assert [judged("Worker")[name]["compliance"] for name in ("jax", "mpi")] == [True, True]
    assert [judged("Master")[name]["compliance"] for name in ("jax", "mpi")] == [False, True]
    (reason,) = judged("Master")["jax"]["reason"]
    assert reason["details"] == "its framework has no master: all of its ranks are workers"
