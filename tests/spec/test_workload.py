"""The WorkloadSpec: its ranks, its sums, and what it refuses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats import documents
from spec.problems.errors import SpecError
from spec.workload import Architecture, Role, WorkloadSpec

Document = dict[str, Any]


def document(**changes: Any) -> Document:
    base = {"distributedFramework": "PyTorch", "numWorkers": 2, "worker": {"image": "img:1"}}
    return {**base, **changes}


def worker(**values: Any) -> Document:
    return document(worker={"image": "img:1", **values})


def test_the_master_is_rank_zero_and_workers_follow() -> None:
    pods = documents.load_spec(document()).pods
    assert [(pod.rank, pod.name) for pod in pods] == [
        (0, "master-0"),
        (1, "worker-0"),
        (2, "worker-1"),
    ]


def test_workers_only_start_at_rank_zero() -> None:
    pods = documents.load_spec(document(architecture="workers_only")).pods
    assert [(pod.rank, pod.role, pod.index) for pod in pods] == [
        (0, Role.WORKER, 0),
        (1, Role.WORKER, 1),
    ]


def test_a_master_without_a_setup_inherits_the_workers() -> None:
    spec = documents.load_spec(document())
    assert spec.master_replica == spec.worker
    own = documents.load_spec(document(master={"image": "other:2"}))
    assert own.master_replica is not None
    assert own.master_replica.image == "other:2"


@given(workers=st.integers(1, 64), portion=st.sampled_from([0.1, 0.25, 0.3, 0.5, 1.0]))
def test_the_gangs_gpus_are_the_sum_of_its_pods(workers: int, portion: float) -> None:
    compute = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": portion}
    changes = {"numWorkers": workers, "worker": {"image": "i", "compute": compute}}
    spec = documents.load_spec(document(**changes))
    assert spec.gpus() == pytest.approx((workers + 1) * portion, abs=1e-4)


def test_gpu_memory_becomes_a_portion_of_the_device() -> None:
    compute = {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "2G"}
    assert documents.load_spec(worker(compute=compute)).gpus(8_000_000_000) == 0.75


WRONG: list[tuple[Document, str, str]] = [
    (document(numWorkers=0), "numWorkers", "at least 1"),
    (document(numWorkers="2"), "numWorkers", "whole number"),
    (document(numWorkers=True), "numWorkers", "whole number"),
    (document(distributedFramework="Caffe"), "distributedFramework", "must be one of"),
    (document(backoffLimit=101), "backoffLimit", "at most 100"),
    (
        document(autoDeletionTimeAfterCompletionSeconds=-1),
        "autoDeletionTimeAfterCompletionSeconds",
        "at least 0",
    ),
    (document(setup=["true", "a\nb"]), "setup.1", "must be one line"),
    (document(setup=["a\0b"]), "setup.0", "NUL"),
    (document(setup=["x" * 2001]), "setup.0", "at most 2000"),
    (document(setup=["true"] * 201), "setup", "at most 200 items"),
    (document(setup="true"), "setup", "must be a list"),
    (document(colour="red"), "colour", "not a known field"),
    (document(architecture="workers_only", master={"image": "i"}), "master", "has no master"),
    (document(worker={}), "worker.image", "required"),
    (worker(image="x" * 513), "worker.image", "at most 512"),
    (worker(image="../etc"), "worker.image", "not an image URL"),
    (worker(command=""), "worker.command", "required"),
    (worker(command=" "), "worker.command", "required"),
    (worker(args="--name 'open"), "worker.args", "close every quote"),
    (worker(command="a\0b"), "worker.command", "NUL"),
    (
        worker(environmentVariables=[{"name": "1A", "value": ""}]),
        "worker.environmentVariables.0.name",
        "not a variable",
    ),
    (
        worker(environmentVariables=[{"name": "A=B", "value": ""}]),
        "worker.environmentVariables.0.name",
        "not a variable",
    ),
    (
        worker(environmentVariables=[{"name": "A", "value": 5}]),
        "worker.environmentVariables.0.value",
        "text",
    ),
    (
        worker(environmentVariables=[{"name": "A"}, {"name": "A"}]),
        "worker.environmentVariables",
        "twice",
    ),
    (
        worker(
            environmentVariables=[{"name": "A", "value": "1", "secret": {"name": "s", "key": "k"}}]
        ),
        "worker.environmentVariables.0.value",
        "one source",
    ),
    (worker(labels=[{"name": "x" * 64, "value": ""}]), "worker.labels.0.name", "at most 63"),
    (worker(annotations=[{"name": "", "value": ""}]), "worker.annotations.0.name", "required"),
    (worker(compute={"gpuDevicesRequest": -1}), "worker.compute.gpuDevicesRequest", "at least 0"),
    (
        worker(
            compute={"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 1.5}
        ),
        "worker.compute.gpuPortionRequest",
        "at most 1",
    ),
    (
        worker(compute={"gpuPortionRequest": 0.5}),
        "worker.compute.gpuPortionRequest",
        "only allowed with",
    ),
    (
        worker(compute={"cpuMemoryRequest": "2G", "cpuMemoryLimit": "1G"}),
        "worker.compute.cpuMemoryLimit",
        "less than",
    ),
    (
        worker(security={"capabilities": ["FLY"]}),
        "worker.security.capabilities.0",
        "not a Linux capability",
    ),
    (
        worker(probes={"liveness": {"successThreshold": 2, "handler": {"httpGet": {"port": 80}}}}),
        "worker.probes",
        "liveness probe must be 1",
    ),
    *[
        (
            worker(connections=[{"name": "n", "containerPort": 80, "nodePort": port}]),
            "worker.connections.0.nodePort",
            words,
        )
        for port, words in ((29_999, "at least 30000"), (32_768, "at most 32767"))
    ],
    (worker(security={"runAsUid": 5}), "worker.security.runAsUid", "uidGidSource is custom"),
    (worker(tty=True), "worker.tty", "stdin"),
    (
        worker(connections=[{"name": "a", "containerPort": 70_000}]),
        "worker.connections.0.containerPort",
        "at most 65535",
    ),
    (
        worker(
            connections=[{"name": "a", "containerPort": 80, "externalUrl": "javascript:alert(1)"}]
        ),
        "worker.connections.0.externalUrl",
        "https",
    ),
]


@pytest.mark.parametrize(("wrong", "field", "words"), WRONG, ids=lambda value: str(value)[:60])
def test_each_wrong_value_of_a_spec_is_addressed(wrong: Document, field: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        documents.load_spec(wrong)
    messages = {problem.field: problem.message for problem in caught.value.problems}
    assert words in messages.get(field, ""), messages


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        documents.load_spec(document(numWorkers=0, worker={"image": ""}))
    assert {problem.field for problem in caught.value.problems} == {"numWorkers", "worker.image"}


def test_a_document_survives_the_way_there_and_back() -> None:
    spec = documents.load_spec(worker(args="--epochs 2", labels=[{"name": "team", "value": "a"}]))
    assert documents.load_spec(documents.dump_spec(spec)) == spec


def test_the_flat_wire_form_is_the_same_spec() -> None:
    flat = {"image": "img:1", "numWorkers": 3, "distributedFramework": "PyTorch", "backoffLimit": 2}
    nested = documents.from_wire(flat, no_master=True, master=None)
    spec = documents.load_spec(nested)
    assert (spec.architecture, spec.num_workers) == (Architecture.WORKERS_ONLY, 3)
    assert documents.to_wire(nested) == flat


def test_a_spec_is_frozen() -> None:
    spec = documents.load_spec(document())
    with pytest.raises(ValueError, match="frozen"):
        spec.num_workers = 3  # type: ignore[misc]  # the point of the test


def test_yaml_reads_like_the_document() -> None:
    text = documents.to_yaml(documents.dump_spec(documents.load_spec(document())))
    assert text.splitlines()[1] == "distributedFramework: PyTorch"
    assert isinstance(WorkloadSpec.model_json_schema(by_alias=True), dict)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("queue", "Team", "must contain only lower-case letters, digits, and - . between them"),
        ("queue", "a" * 64, "must be at most 63 characters long"),
        ("jobLabels", [{"name": "team", "value": "a b"}], "must contain only letters"),
        ("jobLabels", [{"name": "a"}, {"name": "a"}], "a is given twice"),
        ("jobAnnotations", [{"name": "a"}, {"name": "a"}], "a is given twice"),
        ("jobAnnotations", [{"name": "-a"}], "is not a label name"),
    ],
)
def test_a_wrong_queue_or_label_of_the_job_is_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(SpecError) as refusal:
        documents.load_spec(document(**{field: value}))
    (problem,) = refusal.value.problems
    assert problem.path[0] == field
    assert message in problem.message


def test_every_kind_of_workload_has_a_queue_and_labels_of_its_job() -> None:
    its = {"queue": "team.a", "jobLabels": [{"name": "example.com/owner", "value": "ada"}]}
    for kind in ("training", "workspace"):
        spec = documents.load_spec({"kind": kind, "worker": {"image": "img:1"}, **its})
        assert spec.queue == "team.a"
        assert [label.value for label in spec.job_labels] == ["ada"]
