"""Labels and annotations that operators and schedulers own are refused, and of older workloads left
out."""

from dataclasses import replace

import pytest

from engines.base import Launch
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.manifests.unsupported import complaints
from spec.formats import documents
from spec.problems.errors import path_text
from tests.engines.kubernetes.cases import SIMPLE, case
from tests.engines.kubernetes.launches import loaded

WITH_KAI = case("pytorch")


def labelled(*names: str, field: str = "labels", framework: str = "PyTorch") -> Launch:
    pod = SIMPLE | {field: [{"name": name, "value": "1"} for name in names]}
    document = {"distributedFramework": framework, "worker": pod}
    return replace(WITH_KAI, spec=documents.load_spec(document | {"master": pod}))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trainyard.io/workload", "belongs to Trainyard"),
        ("trainyard.io/whatever", "belongs to Trainyard"),
        ("training.kubeflow.org/job-name", "belongs to the operators of Kubeflow"),
        ("training.kubeflow.org/replica-index", "belongs to the operators of Kubeflow"),
        ("training.kubeflow.org/job-role", "belongs to the operators of Kubeflow"),
        ("kai.scheduler/queue", "belongs to KAI; leave it out; the queue is the project's"),
        ("kai.scheduler/preemptibility", "belongs to KAI; set preemptibility instead"),
        ("kai.scheduler/topology-required-placement", "belongs to KAI; set topology instead"),
        ("kai.scheduler/node-pool", "belongs to the scheduler"),
        ("priorityClassName", "belongs to KAI; set priorityClass instead"),
        ("gpu-fraction", "choose the part of a GPU under compute"),
        ("gpu-fraction-num-devices", "choose the part of a GPU under compute"),
        ("gpu-memory.limit", "choose the part of a GPU under compute"),
        ("runai/queue", "belongs to the scheduler"),
        ("run.ai/top-owner-metadata", "belongs to the scheduler"),
        ("runai-gpu-group", "belongs to the scheduler"),
        ("pod-group-name", "belongs to the scheduler"),
        ("scheduling.k8s.io/group-name", "belongs to the scheduler"),
        ("scheduling.x-k8s.io/pod-group", "belongs to the scheduler"),
        ("kueue.x-k8s.io/pod-group-name", "belongs to Kueue's pod groups; leave it out and set"),
        ("kueue.x-k8s.io/pod-group-total-count", "waits for all pods of the job together"),
        ("kueue.x-k8s.io/retriable-in-group", "belongs to Kueue's pod groups"),
        ("kueue.x-k8s.io/managed", "belongs to Kueue; leave it out"),
        ("kueue.x-k8s.io/prebuilt-workload-name", "belongs to Kueue; leave it out"),
    ],
)
def test_labels_of_operators_and_schedulers_are_refused_wherever_they_are_given(
    name: str, words: str
) -> None:
    for field in ("labels", "annotations"):
        problems = list(complaints(labelled("team", name, field=field)))
        places = [path_text(it.path) for it in problems]
        assert places == [f"worker.{field}[1].name", f"master.{field}[1].name"]
        assert all(it.message.startswith(repr(name)) and words in it.message for it in problems)


@pytest.mark.parametrize("field", ["jobLabels", "jobAnnotations"])
def test_a_job_may_not_have_them_either(field: str) -> None:
    launch = loaded(**{field: [{"name": "team"}, {"name": "training.kubeflow.org/job-name"}]})
    (problem,) = complaints(launch)
    assert path_text(problem.path) == f"{field}[1].name"
    assert "belongs to the operators of Kubeflow" in problem.message


@pytest.mark.parametrize("name", ["batch.kubernetes.io/job-name", "job-name", "controller-uid"])
def test_labels_of_a_job_of_kubernetes_are_refused_for_such_a_job(name: str) -> None:
    assert not list(complaints(labelled(name)))
    alone = documents.load_spec(
        {"kind": "training", "worker": SIMPLE | {"labels": [{"name": name}]}}
    )
    (problem,) = complaints(replace(WITH_KAI, spec=alone))
    assert "belongs to Kubernetes, which sets it on the pods of a Job" in problem.message


def test_all_others_are_free() -> None:
    names = ("app", "example.com/queue", "sidecar.istio.io/inject", "kueue.x-k8s.io/queue-name")
    own = ("gpu-type", "gpu-fractions", "runair/team", "my-trainyard.io/x", "priorityclassname")
    assert not list(complaints(labelled(*names, *own)))


def test_a_workload_from_before_they_were_refused_runs_without_them() -> None:
    launch = labelled("team", "training.kubeflow.org/job-role", "kai.scheduler/queue")
    *_, written = manifests(launch, prefix="runai-")
    pods = [it["template"]["metadata"] for it in written["spec"]["pytorchReplicaSpecs"].values()]
    assert [it["labels"]["team"] for it in pods] == ["1", "1"]
    for labels in (it["labels"] for it in pods):
        assert "training.kubeflow.org/job-role" not in labels
        assert labels.get("kai.scheduler/queue") != "1"
