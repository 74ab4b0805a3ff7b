"""The command lines of Run:ai's two quickstarts, word for word, with the program named trainyard.

Two of them do not stand as they were printed. The second of the first quickstart lacks a backslash
at the end of a line, so a shell would submit half of it: its lines are joined here. The MPI one
gives no name and is then called dist: it gets a generated name, and is given that name once more.
"""

import pytest

from accounts.models import User
from projects.models import Project
from spec.workload import WorkloadSpec
from tests.factories import PASSWORD, ProjectFactory
from tests.trainyard_cli.terminal import Terminal
from workloads.models import Workload

FIRST = """
runai config project "project-name"
runai submit-dist pytorch "workload-name" --workers=2 -g 0.1 \\
   -i kubeflow/pytorch-dist-mnist:latest
"""
FIRST_V2 = """
runai project set "project-name"
runai distributed submit "workload-name" --framework PyTorch \\
   -i kubeflow/pytorch-dist-mnist:latest --workers 2
   --gpu-request-type portion --gpu-portion-request 0.1 {}
""".format("--gpu-devices-request 1 --cpu-memory-request 100M").replace(
    "--workers 2\n", "--workers 2 \\\n"
)
SECOND = """
runai config project team-a
runai submit-dist mpi --workers=2 -g 1 \\
        -i gcr.io/run-ai-demo/quickstart-distributed:v0.3.0 -e RUNAI_SLEEP_SECS=60
"""
NAMED = SECOND.replace("submit-dist mpi", "submit-dist mpi dist")
INTERACTIVE = """
runai submit-dist mpi dist-int --workers=2 -g 1 \\
        -i gcr.io/run-ai-demo/quickstart-distributed:v0.3.0 --interactive \\
        -- sh -c "sleep infinity"
"""


def pasted(terminal: Terminal, text: str) -> str:
    """What a shell prints of these lines."""
    lines = [line.strip() for line in text.replace("\\\n", "").splitlines() if line.strip()]
    assert all(line.startswith("runai ") for line in lines)
    return "".join(terminal(line.removeprefix("runai ")).out for line in lines)


@pytest.fixture
def project_name(project: Project, researcher: User) -> Project:
    return ProjectFactory(name="project-name", cluster=project.cluster, members=[researcher])


def spec_of(name: str) -> WorkloadSpec:
    return Workload.objects.get(name=name).spec


@pytest.mark.parametrize("text", [FIRST, FIRST_V2])
def test_the_first_quickstart_submits_its_pytorch_training(
    terminal: Terminal, project_name: Project, text: str
) -> None:
    assert pasted(terminal, text).startswith("Submitted workload-name.")
    workload = Workload.objects.get(name="workload-name")
    assert workload.project == project_name
    compute = workload.spec.worker.compute
    assert (compute.gpu_devices_request, compute.gpu_portion_request) == (1, 0.1)
    assert (compute.cpu_core_request, compute.cpu_memory_request) == (0.1, "100M")
    assert (workload.framework, workload.spec.num_workers, workload.num_pods) == ("PyTorch", 2, 3)


def test_the_lines_of_the_first_quickstart_store_the_same_spec(
    terminal: Terminal, project_name: Project
) -> None:
    pasted(terminal, FIRST)
    pasted(terminal, FIRST_V2.replace("workload-name", "second"))
    assert spec_of("workload-name") == spec_of("second")


@pytest.fixture
def with_mpi(project: Project) -> Project:
    """On a cluster of Kubernetes, which is never asked."""
    cluster = project.cluster
    cluster.kind = "kubernetes"
    cluster.capabilities_json |= {"queues": True, "schedulers": ["kai-scheduler"]}
    cluster.save()
    return project


def test_the_second_quickstart_submits_its_mpi_training_without_a_name(
    terminal: Terminal, with_mpi: Project
) -> None:
    printed = pasted(terminal, SECOND)
    workload = Workload.objects.get()
    assert f"Submitted {workload.name}." in printed
    assert workload.name.startswith("job-")
    variables = workload.spec.worker.environment_variables
    assert [(it.name, it.value) for it in variables] == [("RUNAI_SLEEP_SECS", "60")]
    assert (workload.framework, workload.spec.worker.compute.gpu_devices_request) == ("MPI", 1)


def test_the_second_quickstart_lists_its_training(terminal: Terminal, with_mpi: Project) -> None:
    pasted(terminal, NAMED)
    assert [row[0] for row in terminal("list jobs --no-headers").rows] == ["dist"]


def test_the_second_quickstart_submits_its_interactive_training(
    terminal: Terminal, with_mpi: Project
) -> None:
    pasted(terminal, INTERACTIVE)
    spec = spec_of("dist-int")
    assert spec.worker.args == "sh -c 'sleep infinity'"
    assert spec.category == "Interactive"


def test_the_first_quickstart_signs_in_by_a_question_or_by_standard_input(
    nobody: Terminal, project: Project
) -> None:
    nobody.sign_in("ada", PASSWORD)
    assert "--password-stdin" in nobody("login --help").out
