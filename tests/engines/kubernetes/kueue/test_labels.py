"""Kueue's labels go to the job, wherever they are given, and never to its pods."""

from dataclasses import replace
from typing import Any

import pytest

from engines.base import Launch, Manifest
from engines.kubernetes.kueue.names import PRIORITY_CLASS, QUEUE_NAME
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.manifests.owned_labels import queue_name
from engines.kubernetes.manifests.unsupported import complaints
from spec.formats import documents
from spec.problems.errors import path_text
from tests.engines.kubernetes.cases import SIMPLE, case
from tests.engines.kubernetes.launches import loaded

QUEUE = {"name": QUEUE_NAME, "value": "team"}
PRIORITY = {"name": PRIORITY_CLASS, "value": "urgent"}


def with_kueue(launch: Launch) -> Launch:
    return replace(launch, site=replace(launch.site, kueue=True))


def job_of(launch: Launch) -> Manifest:
    *_, job = manifests(with_kueue(launch), prefix="")
    return job


def labels_of_pods(job: Manifest) -> list[dict[str, str]]:
    roles = job["spec"].get("pytorchReplicaSpecs") or {"": job["spec"]}
    return [role["template"]["metadata"]["labels"] for role in roles.values()]


@pytest.mark.parametrize(
    "given",
    [
        {"queue": "team", "jobLabels": [PRIORITY]},
        {"jobLabels": [QUEUE, PRIORITY]},
        {"worker": SIMPLE | {"labels": [QUEUE, PRIORITY]}},
        {"queue": "team", "worker": SIMPLE | {"labels": [QUEUE, PRIORITY]}},
        {"worker": SIMPLE, "master": SIMPLE | {"labels": [PRIORITY, QUEUE]}},
    ],
    ids=["queue", "labels of the job", "labels of pods", "both", "labels of the master"],
)
def test_queue_and_priority_are_labels_of_the_job_alone(given: dict[str, Any]) -> None:
    launch = loaded(**given)
    assert list(complaints(with_kueue(launch))) == []
    assert queue_name(launch.spec) == "team"
    job = job_of(launch)
    assert job["metadata"]["labels"].items() >= {(QUEUE_NAME, "team"), (PRIORITY_CLASS, "urgent")}
    for labels in labels_of_pods(job):
        assert not {QUEUE_NAME, PRIORITY_CLASS} & labels.keys()


def test_a_job_without_an_operator_names_its_queue_as_well() -> None:
    spec = documents.load_spec({"kind": "training", "queue": "team", "worker": SIMPLE})
    job = job_of(replace(case("pytorch"), spec=spec))
    assert job["kind"] == "Job"
    assert job["metadata"]["labels"][QUEUE_NAME] == "team"


def test_labels_and_annotations_of_the_job_are_not_those_of_its_pods() -> None:
    owner = {"name": "example.com/owner", "value": "ada"}
    note = {"name": "example.com/note", "value": "any text: of a job"}
    job = job_of(loaded(jobLabels=[owner], jobAnnotations=[note]))
    assert job["metadata"]["labels"]["example.com/owner"] == "ada"
    assert job["metadata"]["annotations"]["example.com/note"] == "any text: of a job"
    assert all("example.com/owner" not in labels for labels in labels_of_pods(job))


def test_two_queues_are_refused_at_the_second() -> None:
    other = {"name": QUEUE_NAME, "value": "other"}
    launch = loaded(queue="team", worker=SIMPLE | {"labels": [{"name": "a"}, other]})
    (problem,) = complaints(with_kueue(launch))
    assert path_text(problem.path) == "worker.labels[1].value"
    assert problem.message == (
        "kueue.x-k8s.io/queue-name is 'other' here and 'team' at queue; a job has one, so leave "
        "one of them out"
    )


def test_a_queue_is_refused_where_there_is_no_kueue() -> None:
    (problem,) = complaints(loaded(queue="team"))
    assert path_text(problem.path) == "queue"
    assert problem.message == "needs Kueue, which this cluster does not have; leave it out"
