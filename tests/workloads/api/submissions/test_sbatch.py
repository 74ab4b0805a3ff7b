"""A batch script over REST: what it asks for becomes a workload, and what cannot be is named."""

import shlex
from pathlib import Path

import pytest

from clusters.models import NodePool
from projects.models import Project
from tests.caller import Caller
from tests.factories import UserFactory
from tests.spec import imports
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db
PATH = "/workloads/from-sbatch"
TUTORIAL = (Path(imports.__file__).parent / "tutorial.sh").read_text()


@pytest.fixture
def where(project: Project) -> dict[str, str]:
    return {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}


def filled() -> str:
    """The tutorial's script as its reader changes it, for two small nodes."""
    text = TUTORIAL.replace("[PATH_TO_THE_MAIN_FOLDER]", "/tmp").replace("[YOUR_CONDA_ENV]", "ty")
    text = text.replace("--nodes=3", "--nodes=2").replace(
        "--ntasks-per-node=8", "--ntasks-per-node=1"
    )
    text = text.replace("--gres=gpu:8", "--gres=gpu:1").replace("1792G", "1G").replace("=12", "=1")
    return text.replace("train_ddp_test_CIFAR10.py", "-m trainer mnist")


def test_the_placeholders_of_the_tutorial_are_named_by_their_lines(
    call: Caller, where: dict[str, str]
) -> None:
    status, answer = call("POST", PATH, {**where, "script": TUTORIAL})
    assert status == 400
    fields = [issue["field"] for issue in answer["complianceIssues"]]
    assert fields == ["script.13", "script.23"]
    assert not Workload.objects.exists()


def test_the_tutorials_script_runs_as_it_stands(call: Caller, where: dict[str, str]) -> None:
    status, answer = call("POST", PATH, {**where, "script": filled()})
    assert status == 202, answer
    workload = Workload.objects.get(pk=answer["workload"]["workloadId"])
    assert (workload.name, workload.ranks.count()) == ("ddp-test1", 2)
    assert workload.spec.batch_script == filled()
    assert "--partition has no effect on this machine" in str(answer["notes"])


def test_the_tutorials_script_becomes_a_workload(
    call: Caller, project: Project, where: dict[str, str]
) -> None:
    body = {**where, "script": filled(), "asItStands": False}
    NodePool.objects.create(cluster=project.cluster, name="gpu", label_key="partition")
    status, answer = call("POST", PATH, body)
    assert status == 400
    assert {it["field"] for it in answer["complianceIssues"]} == {"spec.nodePools"}
    project.cluster.pools.all().delete()
    status, answer = call("POST", PATH, body)
    assert status == 202, answer
    workload = Workload.objects.get(pk=answer["workload"]["workloadId"])
    assert (workload.name, workload.ranks.count()) == ("ddp-test1", 2)
    assert workload.spec.worker.command == "python -m trainer mnist"
    assert workload.spec.setup[-1] == "conda activate ty"
    assert "no node pool 'gpu'" in str(answer["notes"])
    assert Event.objects.filter(workload=workload, verb="submit").exists()


def test_a_dry_run_shows_the_request_and_submits_nothing(
    call: Caller, where: dict[str, str]
) -> None:
    changed = {"name": "other", "asItStands": False, "spec": {"numWorkers": 3}}
    body = {**where, "script": filled(), **changed}
    status, answer = call("POST", f"{PATH}?dryRun=true", body)
    assert (status, answer["plan"]["valid"]) == (200, True), answer
    assert answer["request"]["name"] == "other"
    assert answer["request"]["spec"]["numWorkers"] == 3
    assert call("POST", "/workloads/distributed?dryRun=true", answer["request"])[0] == 200
    assert not Workload.objects.exists()


def test_a_script_of_somebody_who_has_no_access_is_refused(where: dict[str, str]) -> None:
    stranger = Caller(UserFactory())
    status, _ = stranger("POST", PATH, {**where, "script": filled()})
    assert status in {400, 403, 404}
    assert not Workload.objects.exists()


def on_slurm(project: Project) -> None:
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared/trainyard"}
    cluster.capabilities_json = {"frameworks": [{"framework": "PyTorch", "available": True}]}
    cluster.save()


def test_a_name_of_the_script_is_made_valid_and_free(
    call: Caller, project: Project, where: dict[str, str]
) -> None:
    on_slurm(project)
    script = "#!/bin/bash\n#SBATCH -J 7B_run\nsrun -K true\n"
    for name in ("run-7b", "run-7b-2"):
        status, answer = call("POST", PATH, {**where, "script": script})
        assert (status, answer["workload"]["name"]) == (202, name), answer
        assert {"line": 2, "text": "The job's name 7B_run becomes run-7b."} in answer["notes"]
    assert "so it is called run-7b-2" in str(answer["notes"])
    body = {**where, "script": "#!/bin/bash\ntrue\n", "fileName": "eval 3.sh"}
    status, answer = call("POST", f"{PATH}?dryRun=true", body)
    assert (status, answer["request"]["name"]) == (200, "eval-3")
    status, answer = call("POST", PATH, {**where, "name": "run-7b", "script": script})
    assert status == 409
    assert "already exists" in str(answer)


def test_arguments_are_kept_word_by_word(
    call: Caller, project: Project, where: dict[str, str]
) -> None:
    on_slurm(project)
    words = ["a b", "--lr=1", "it's", "$(x)"]
    body = {**where, "script": '#!/bin/bash\necho "$@"\n', "arguments": words}
    status, answer = call("POST", PATH, body)
    assert status == 202, answer
    workload = Workload.objects.get(pk=answer["workload"]["workloadId"])
    assert shlex.split(workload.spec.worker.args or "") == words
    status, answer = call("POST", PATH, {**body, "asItStands": False})
    assert status == 400
    assert "Arguments are for the script itself" in str(answer)


def test_gpus_that_tasks_share_are_counted_once(
    call: Caller, project: Project, where: dict[str, str]
) -> None:
    on_slurm(project)
    script = "#!/bin/bash\n#SBATCH --ntasks=4 --gres=gpu:1\npython3 -c 'print(1)'\n"
    status, answer = call("POST", PATH, {**where, "script": script})
    assert status == 202, answer
    spec = Workload.objects.get(pk=answer["workload"]["workloadId"]).spec
    assert (spec.num_pods, spec.gpus()) == (4, 1)
    assert {"line": 2, "text": "The 4 tasks share 1 GPU."} in answer["notes"]


def test_a_job_array_becomes_many_workloads(call: Caller, where: dict[str, str]) -> None:
    script = "#!/bin/bash\n#SBATCH -J sweep -n 1 --array=1-3\nsrun hostname\n"
    spec = {"environmentVariables": [{"name": "LR", "value": "0.1"}]}
    status, answer = call("POST", f"{PATH}?dryRun=true", {**where, "script": script})
    assert (status, answer["plan"]["valid"]) == (200, True), answer
    status, answer = call("POST", PATH, {**where, "script": script, "spec": spec})
    assert status == 202, answer
    names = [workload["name"] for workload in answer["workloads"]]
    assert names == ["sweep-1", "sweep-2", "sweep-3"]
    assert answer["workload"]["name"] == "sweep-1"
    variables = Workload.objects.get(name="sweep-3").spec.worker.environment_variables
    values = {variable.name: variable.value for variable in variables}
    assert (values["LR"], values["SLURM_ARRAY_TASK_ID"]) == ("0.1", "3")


def test_an_array_that_is_too_large_is_refused_at_its_line(
    call: Caller, where: dict[str, str]
) -> None:
    script = "#!/bin/bash\n#SBATCH --array=0-999999999\nsrun hostname\n"
    status, answer = call("POST", PATH, {**where, "script": script})
    assert status == 400
    (issue,) = answer["complianceIssues"]
    assert issue["field"] == "script.2"
    assert "at most 100 can be submitted at once" in issue["details"]
