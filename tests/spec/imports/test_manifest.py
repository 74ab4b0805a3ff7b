"""A manifest of Kubernetes becomes a workload."""

from typing import Any

import pytest

from spec.formats import documents
from spec.imports.manifest.jobs import import_manifest
from spec.kind import WorkloadKind
from tests.spec.imports.jobs import JOB, POD, WORKER, changed, of_pods

#: What the job says.
SPEC: dict[str, Any] = {
    "distributedFramework": "PyTorch",
    "numWorkers": 3,
    "processesPerPod": 2,
    "cleanPodPolicy": "None",
    "backoffLimit": 3,
    "timeLimitSeconds": 3600,
    "terminationGracePeriodSeconds": 60,
    "image": "train:2",
    "command": "torchrun train.py",
    "args": "--name 'two words'",
    "restartPolicy": "OnFailure",
    "environmentVariables": [
        {"name": "EPOCHS", "value": "10"},
        {"name": "TOKEN", "secret": {"name": "hub", "key": "token"}},
        {"name": "NODE", "podFieldRef": {"path": "spec.nodeName"}},
    ],
    "compute": {
        "cpuCoreRequest": 0.5,
        "cpuCoreLimit": 4,
        "cpuMemoryRequest": "2Gi",
        "gpuDevicesRequest": 2,
        "extendedResources": [{"resource": "rdma/rdma", "quantity": "1"}],
        "largeShmRequest": True,
    },
    "storage": {
        "pvc": [{"existingPvc": True, "claimName": "sets", "path": "/data", "readOnly": True}],
        "secretVolume": [{"secret": "certs", "mountPath": "/certs", "defaultMode": "0400"}],
    },
    "labels": [{"name": "team", "value": "vision"}],
    "nodeAffinityRequired": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
        ]
    },
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
}


def test_a_job_of_the_training_operator_becomes_a_gang() -> None:
    job = import_manifest(JOB)
    assert job.faults == []
    assert (job.kind, job.name, job.namespace) == ("distributed", "mnist", "runai-vision")
    assert (job.master, job.no_master) == (None, False)  # whose template is the workers'
    assert job.spec == SPEC
    documents.load_spec(documents.from_wire(job.spec, no_master=False, master=None))


def test_a_master_of_its_own_and_workers_without_one_are_told_apart() -> None:
    other = import_manifest(
        changed(
            {"spec": {"containers": [{"image": "lead:1"}]}},
            "spec",
            "pytorchReplicaSpecs",
            "Master",
            "template",
        )
    )
    assert other.master == {"image": "lead:1", "restartPolicy": "OnFailure"}
    only = import_manifest(changed({"Worker": WORKER}, "spec", "pytorchReplicaSpecs"))
    assert (only.no_master, only.master, only.faults) == (True, None, [])


def test_a_job_of_mpi_has_a_launcher_that_runs_the_program() -> None:
    launcher = {
        "spec": {"containers": [{"image": "mpi:1", "command": ["mpirun", "python", "t.py"]}]}
    }
    worker = {"spec": {"containers": [{"image": "mpi:1"}]}}
    job = import_manifest(
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "allreduce"},
            "spec": {
                "slotsPerWorker": 2,
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": launcher},
                    "Worker": {"replicas": 4, "template": worker},
                },
            },
        }
    )
    assert job.faults == []
    assert job.master == {"image": "mpi:1", "command": "mpirun python t.py"}
    assert (job.spec["numWorkers"], job.spec["slotsPerWorker"]) == (4, 2)


@pytest.mark.parametrize(
    "job",
    [
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {"backoffLimit": 3, "template": POD}},
        changed({"Master": WORKER | {"replicas": 1}}, "spec", "pytorchReplicaSpecs"),
    ],
    ids=["of Kubernetes", "a master alone"],
)
def test_a_job_of_one_pod_becomes_a_standard_training(job: dict[str, Any]) -> None:
    alone = import_manifest(job)
    assert (alone.kind, alone.faults) == (WorkloadKind.TRAINING, [])
    assert (alone.spec["backoffLimit"], alone.spec["image"]) == (3, "train:2")
    documents.load_spec(
        {"kind": "training"} | documents.one_pod_from_wire(alone.spec, WorkloadKind.TRAINING)
    )


def test_two_places_that_say_the_same_are_taken_once() -> None:
    same = import_manifest(changed(3, "spec", "elasticPolicy", "maxRestarts"))
    assert (same.faults, same.spec["backoffLimit"]) == ([], 3)
    either = changed({"cleanPodPolicy": "None"}, "spec", "runPolicy")
    alone = import_manifest(changed(5, "spec", "elasticPolicy", "maxRestarts", of=either))
    assert (alone.faults, alone.spec["backoffLimit"]) == ([], 5)


def test_a_part_of_a_gpu_is_read_where_the_scheduler_reads_it() -> None:
    shared = import_manifest(of_pods({"gpu-fraction": "0.5"}, "metadata", "annotations"))
    assert shared.spec["compute"]["gpuRequestType"] == "portion"
    assert shared.spec["compute"]["gpuPortionRequest"] == 0.5
    assert "annotations" not in shared.spec


@pytest.mark.parametrize(
    ("manifest", "at"),
    [
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, "kind"),
        ({"kind": "PyTorchJob", "apiVersion": "kubeflow.org/v9"}, "apiVersion"),
        ({}, "kind"),
    ],
)
def test_an_unknown_kind_is_refused_with_the_known_ones(manifest: dict[str, Any], at: str) -> None:
    (fault,) = import_manifest(manifest).faults
    assert fault.path == at
    assert "PyTorchJob, TFJob, XGBoostJob, JAXJob, MPIJob of kubeflow.org" in fault.text


def test_labels_of_a_job_are_kept_and_its_queue_read() -> None:
    metadata = {
        "name": "mnist",
        "labels": {
            "example.com/owner": "ada",
            "kueue.x-k8s.io/queue-name": "team",
            "kai.scheduler/queue": "runai-vision",
            "kai.scheduler/preemptibility": "preemptible",
            "trainyard.io/workload": "x",
        },
        "annotations": {
            "example.com/note": "any text",
            "kai.scheduler/topology": "dc",
            "kai.scheduler/topology-required-placement": "rack",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "trainyard.io/run": "2",
        },
    }
    job = import_manifest(changed(metadata, "metadata"))
    assert job.faults == []
    assert job.spec["queue"] == "team"
    assert job.spec["preemptibility"] == "preemptible"
    assert job.spec["topology"] == {"name": "dc", "required": "rack"}
    assert job.spec["jobLabels"] == [{"name": "example.com/owner", "value": "ada"}]
    assert job.spec["jobAnnotations"] == [{"name": "example.com/note", "value": "any text"}]
    documents.load_spec(documents.from_wire(job.spec, no_master=False, master=None))


@pytest.mark.parametrize(
    ("job", "path"),
    [
        (JOB, ("spec", "runPolicy", "suspend")),
        ({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": POD}}, ("spec", "suspend")),
    ],
    ids=["gang", "one pod"],
)
def test_a_suspended_job_waits_for_a_queue(job: dict[str, Any], path: tuple[str, ...]) -> None:
    suspended = changed(True, *path, of=job)
    assert import_manifest(suspended).suspended_at == ".".join(path)
    queue = {"labels": {"kueue.x-k8s.io/queue-name": "team"}}
    queued = import_manifest(changed(queue, "metadata", of=suspended))
    assert (queued.suspended_at, queued.faults) == ("", [])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("{{ image }}", "image"),
        ("repo/train:{{ .Values.tag }}", "image"),
        ("--lr={{ lr }}", "args.0"),
    ],
)
def test_a_placeholder_in_a_word_has_to_be_filled_in(value: str, path: str) -> None:
    key, _, number = path.partition(".")
    given = [value] if number else value
    fault, *_ = import_manifest(of_pods(given, "spec", "containers", 0, key)).faults
    assert fault.path.endswith(f"containers.0.{path}")
    assert "This is a template: {{" in fault.text


def test_braces_in_a_script_are_the_programs_own() -> None:
    script = ["docker inspect -f {{.State}} x"]
    assert import_manifest(of_pods(script, "spec", "containers", 0, "args")).faults == []


def test_a_gang_scheduler_is_not_told_what_holds_anyway() -> None:
    policy = {"minAvailable": 3, "queue": "default", "priorityClass": "high"}
    job = import_manifest(changed(policy, "spec", "runPolicy", "schedulingPolicy"))
    assert job.faults == []
    assert job.spec["priorityClass"] == "high"
    at = "spec.runPolicy.schedulingPolicy"
    assert {it.path for it in job.notes} == {f"{at}.minAvailable", f"{at}.queue"}


def test_the_rendezvous_and_metrics_of_an_elastic_policy_are_left_out() -> None:
    policy = {"rdzvBackend": "c10d", "rdzvPort": 29400, "metrics": [{}], "nProcPerNode": 2}
    job = import_manifest(changed(policy, "spec", "elasticPolicy"))
    assert job.faults == []
    assert job.spec["processesPerPod"] == 2
    at = "spec.elasticPolicy"
    assert {it.path for it in job.notes} == {f"{at}.rdzvPort", f"{at}.metrics"}
    other = import_manifest(changed({"rdzvBackend": "etcd"}, "spec", "elasticPolicy"))
    assert [it.path for it in other.faults] == [f"{at}.rdzvBackend"]


def test_a_generated_name_begins_as_the_manifest_says() -> None:
    job = import_manifest(changed({"generateName": "mnist-"}, "metadata"))
    assert (job.name, job.generates_name) == ("mnist", True)
    both = import_manifest(changed({"generateName": "mnist-", "name": "a"}, "metadata"))
    assert (both.name, both.generates_name) == ("a", False)


def test_fields_of_a_request_have_a_place_in_the_manifest() -> None:
    worker = "spec.pytorchReplicaSpecs.Worker"
    job = import_manifest(JOB)
    for field, place in (
        ("spec.numWorkers", f"{worker}.replicas"),
        ("spec.restartPolicy", f"{worker}.restartPolicy"),
        ("spec.backoffLimit", "spec.runPolicy.backoffLimit"),
        ("spec.environmentVariables.2.podFieldRef", f"{worker}.template.spec.containers.0.env.2"),
        ("spec.compute.gpuDevicesRequest", f"{worker}.template.spec.containers.0.resources"),
        ("spec.security.hostIpc", f"{worker}.template.spec.hostIPC"),
        ("masterSpec.image", "spec.pytorchReplicaSpecs.Master.template.spec.containers.0.image"),
        ("spec.unknown", ""),
    ):
        assert job.place_of(field) == place
    alone = import_manifest({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": POD}})
    assert alone.place_of("spec.restartPolicy") == "spec.template.spec.restartPolicy"
