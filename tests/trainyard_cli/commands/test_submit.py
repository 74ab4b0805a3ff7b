"""Submissions: what is stored is what was typed, and what is wrong is told by its flag."""

import json
import time
from pathlib import Path

import pytest
import yaml

from projects.models import Project
from spec.workload import Role
from tests.trainyard_cli.receiver import Receiver, receiver
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.commands.submit import PLACEHOLDER
from workloads.models import Workload

__all__ = ["receiver"]

IMAGE = "-i kubeflow/pytorch-dist-mnist:latest"
PYTORCH = f"training pytorch submit train {IMAGE}"


def stored(terminal: Terminal, line: str) -> Workload:
    flags, dashes, words = line.partition(" -- ")
    name = terminal(f"{flags} -o name{dashes}{words}").out.strip()
    return Workload.objects.get(name=name)


def test_every_kind_of_workload_has_its_command(terminal: Terminal, project: Project) -> None:
    for command, kind in (
        ("training pytorch", "distributed"),
        ("training xgboost", "distributed"),
        ("training standard", "training"),
        ("training", "training"),
        ("workspace", "workspace"),
    ):
        name = command.replace(" ", "-")
        workload = stored(terminal, f"{command} submit {name} {IMAGE} --cpu 0.1 -- sleep 1")
        assert (workload.name, workload.kind) == (name, kind)


def test_a_name_that_is_left_out_is_generated_and_printed(terminal: Terminal) -> None:
    line = f"training pytorch submit {IMAGE}"
    assert stored(terminal, line).name.startswith("job-")
    assert stored(terminal, f"{line} --name-prefix sweep").name.startswith("sweep-")
    assert stored(terminal, f"{line} --name given").name == "given"
    assert "not both" in terminal(f"{line} --name a --name-prefix b", code=2).err


def test_the_words_after_two_dashes_are_arguments_or_the_command(terminal: Terminal) -> None:
    with_args = stored(terminal, f"{PYTORCH} -- --epochs 3 --name 'a b'").spec.worker
    assert (with_args.command, with_args.args) == (None, "--epochs 3 --name 'a b'")
    line = PYTORCH.replace("train ", "other ")
    with_command = stored(terminal, f"{line} --command -- python -m train").spec.worker
    assert (with_command.command, with_command.args) == ("python -m train", None)
    assert "after --" in terminal(f"{line} --command", code=2).err


def test_a_master_has_the_setup_of_the_workers_except_its_flags(terminal: Terminal) -> None:
    line = f"{PYTORCH} -g 1 -e A=1 -e B=2 --existing-pvc claimname=data,path=/data"
    spec = stored(
        terminal,
        f"{line} --master-gpu-devices-request 0 --master-args=-v --master-no-pvcs"
        " --master-environment-variable A=- --master-environment C=3",
    ).spec
    assert spec.worker.storage.pvc
    master = spec.pods[0].replica
    assert spec.pods[0].role is Role.MASTER
    assert master.compute.gpu_devices_request == 0
    assert (master.args, master.storage.pvc) == ("-v", ())
    assert [(it.name, it.value) for it in master.environment_variables] == [("B", "2"), ("C", "3")]
    assert master.image == spec.worker.image


def test_a_part_of_a_gpu_is_a_portion_of_one_device(terminal: Terminal) -> None:
    compute = stored(terminal, f"{PYTORCH} -g 0.5").spec.worker.compute
    assert (compute.gpu_devices_request, compute.gpu_portion_request) == (1, 0.5)
    line = PYTORCH.replace("train ", "other ")
    compute = stored(terminal, f"{line} --gpu-memory 4G").spec.worker.compute
    assert (compute.gpu_request_type, compute.gpu_memory_request) == ("memory", "4G")
    assert "neither whole GPUs" in terminal(f"{line} -g 1.5", code=2).err


def test_flags_lay_over_a_file(terminal: Terminal, tmp_path: Path) -> None:
    spec = {"image": "kubeflow/pytorch-dist-mnist:latest", "numWorkers": 2, "labels": []}
    path = tmp_path / "train.yaml"
    path.write_text(yaml.safe_dump({"name": "from-file", "spec": spec}))
    workload = stored(terminal, f"training pytorch submit -f {path} --workers 4")
    assert (workload.name, workload.spec.num_workers) == ("from-file", 4)
    again = stored(terminal, f"training pytorch submit other -f {path}")
    assert (again.name, again.spec.num_workers) == ("other", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1", "is not valid YAML"),
        ("name: a", "it needs spec"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_request_is_refused(
    terminal: Terminal, tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "train.yaml"
    if text is not None:
        path.write_text(text)
    assert message in terminal(f"training pytorch submit -f {path}", code=2).err


def test_a_dry_run_submits_nothing_and_says_what_would_happen(terminal: Terminal) -> None:
    done = terminal(f"{PYTORCH} --workers 3 --dry-run")
    assert yaml.safe_load(done.out)["spec"]["numWorkers"] == 3
    assert "# Starts: now." in done.out
    assert yaml.safe_load(done.out)["manifests"]
    spec = yaml.safe_load(done.out)["spec"]
    assert all(value not in (None, "", [], {}) for value in spec.values())
    answer = json.loads(terminal(f"{PYTORCH} --dry-run -o json").out)
    assert answer["valid"] is True
    refused = terminal(f"{PYTORCH} --workers 0 --dry-run", code=1)
    assert "--workers: must be at least 1" in refused.err
    assert not Workload.objects.exists()


def test_a_refusal_names_the_flag(terminal: Terminal) -> None:
    assert "--framework: must be one of" in terminal(f"distributed submit a {IMAGE}", code=1).err
    done = terminal(f"{PYTORCH} --workers 0 --master-cpu-memory-request x --nfs path=/a", code=1)
    for words in ("--workers: must be", "--master-cpu-memory-request: 'x' is", "--nfs: "):
        assert words in done.err


def test_braces_without_an_end_are_read_in_a_moment() -> None:
    began = time.process_time()
    assert PLACEHOLDER.search("{{ a {% b " * 20_000) is None
    assert time.process_time() - began < 1
    assert PLACEHOLDER.search("image: {{ .Values.image }}")
    assert PLACEHOLDER.search("{% if gpus %}")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--workers two", "--workers: 'two' is not a whole number."),
        ("--time-limit soon", "--time-limit: 'soon' is not a time; write 90s, 30m, 2h or 7d."),
        ("--nfs sever=a", "'sever=a' is not one of path=,server="),
        ("--git-sync repository=a,password=b", "does not belong on a command line"),
        ("-e NOT_SET_HERE", "NOT_SET_HERE is not set here"),
        ("--label a", "--label: 'a' is not NAME=VALUE."),
        ("--set probes", "is not PATH=VALUE"),
        ("--mig-profile 1g.5gb", "use --gpu-portion-request"),
        ("--datavolume a", "use --datasource"),
        ("--privileged", "add a --capability"),
        ("python train.py", "after --, such as -- python train.py"),
        ("--env-my-credentials credential-name=a,key=b", "is not name=,credential-name=,key="),
        ("--image-pull-my-credentials type=a", "is not name="),
        ("-v data", "'data' is not a volume; write SOURCE:TARGET"),
        ("-s lan --port 80", "'lan' is not one of portforward"),
        ("-s ingress", "say which port"),
        ("--environment a --environment b", "has one environment"),
        ("--datasource kind=nfs", "is not name=NAME"),
    ],
)
def test_wrong_flags_say_what_to_write(terminal: Terminal, flags: str, message: str) -> None:
    done = terminal(f"{PYTORCH} {flags}", code=2)
    assert message in " ".join(done.err.replace("│", " ").split())


def test_a_variable_may_take_its_value_from_the_shell(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_abc")
    (variable,) = stored(terminal, f"{PYTORCH} -e HF_TOKEN").spec.worker.environment_variables
    assert variable.value == "hf_abc"


def test_any_field_can_be_set_by_its_path(terminal: Terminal) -> None:
    labels = '[{"name":"a","value":"b"}]'
    line = f"{PYTORCH} --set 'labels={labels}' --set nodeType=a --set compute.cpuCoreRequest=0.5"
    spec = stored(terminal, f"{line} --set nodeType=null").spec
    assert [(it.name, it.value) for it in spec.worker.labels] == [("a", "b")]
    assert spec.worker.compute.cpu_core_request == 0.5
    assert spec.worker.node_type is None


def test_nodes_are_left_out_besides_what_else_is_asked_of_them(receiver: Receiver) -> None:
    line = "trainyard training pytorch submit train -i a:1 --master-cpu 1 --exclude-node"
    terms = '{"nodeSelectorTerms":[{"matchExpressions":[{"key":"gpu","operator":"Exists"}]}]}'
    spec = receiver.typed(f"{line} node-1 --exclude-node=node-2,node-3")
    for pod in spec.pods:
        affinity = pod.replica.node_affinity_required
        assert affinity
        (term,) = affinity.node_selector_terms
        (apart,) = term.match_expressions
        assert apart.operator == "NotIn"
        assert (apart.key, apart.values) == (
            "kubernetes.io/hostname",
            ("node-1", "node-2", "node-3"),
        )
    spec = receiver.typed(f"{line} node-1 --set 'nodeAffinityRequired={terms}'")
    affinity = spec.worker.node_affinity_required
    assert affinity
    assert [it.key for it in affinity.node_selector_terms[0].match_expressions] == [
        "gpu",
        "kubernetes.io/hostname",
    ]


def test_credentials_of_ones_own_are_named_as_run_ai_names_them(receiver: Receiver) -> None:
    line = "trainyard training pytorch submit train -i a:1"
    ours = f"{line} --env-credential TOKEN=hub,key=token --image-pull-credential registry"
    theirs = (
        f"{line} --env-my-credentials type=generic-secret,name=TOKEN,credential-name=hub,key=token"
        " --image-pull-my-credentials type=docker-registry,name=registry"
    )
    assert receiver.typed(theirs) == receiver.typed(ours)


def test_the_first_command_of_run_ai_submits_a_standard_training(
    terminal: Terminal, project: Project
) -> None:
    workload = stored(terminal, f"submit workspace {IMAGE} --cpu 0.1 -- sleep 1")
    assert (workload.kind, workload.name) == ("training", "workspace")


def test_an_interactive_workload_is_not_preempted_and_goes_first(
    terminal: Terminal, project: Project
) -> None:
    line = f"submit-dist pytorch {{}} {IMAGE} --cpu 0.1 --interactive -- sleep 1"
    here = terminal(line.format("here"))
    assert "--interactive: priorityClass high is left out: workloads start by quota" in here.err
    spec = Workload.objects.get(name="here").spec
    assert (spec.category, spec.preemptibility) == ("Interactive", "non-preemptible")
    assert spec.priority_class is None
    project.cluster.kind = "kubernetes"
    project.cluster.capabilities_json |= {
        "queues": True,
        "schedulers": ["kai-scheduler"],
        "priority_classes": ["high"],
    }
    project.cluster.save()
    spec = stored(terminal, line.format("there")).spec
    assert (spec.priority_class, spec.preemptibility) == ("high", "non-preemptible")
    spec = stored(terminal, line.format("own --preemptible")).spec
    assert (spec.priority_class, spec.preemptibility) == ("high", "preemptible")


def test_a_secret_is_refused_where_there_are_none(terminal: Terminal) -> None:
    done = terminal(f"{PYTORCH} -e USER=SECRET:login,name --dry-run", code=1)
    assert "only Kubernetes has; take it from a credential" in done.err


def test_a_taken_name_is_told(terminal: Terminal) -> None:
    terminal(PYTORCH)
    assert "train" in terminal(PYTORCH, code=1).err
    assert Workload.objects.count() == 1
