"""A workload of one pod: what it is, and what it has nothing of."""

from typing import Any

import pytest

from spec.formats import documents
from spec.kind import GANG_FIELDS, KIND_TRAITS, WorkloadKind
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec

ONE_POD = [kind for kind in WorkloadKind if not kind.is_gang]
TRAINING: dict[str, Any] = {"kind": "training", "worker": {"image": "img:1"}}


def test_every_kind_has_a_row_of_its_own() -> None:
    assert set(KIND_TRAITS) == set(WorkloadKind)
    for name in ("label", "type", "path"):
        assert len({getattr(traits, name) for traits in KIND_TRAITS.values()}) == len(WorkloadKind)
    assert {field.alias for field in WorkloadSpec.model_fields.values()} >= GANG_FIELDS


@pytest.mark.parametrize("kind", ONE_POD)
def test_a_standard_training_or_workspace_is_one_pod_without_a_framework(
    kind: WorkloadKind,
) -> None:
    spec = documents.load_spec(TRAINING | {"kind": kind})
    assert [(pod.rank, pod.name) for pod in spec.pods] == [(0, "worker-0")]
    assert (spec.num_pods, spec.has_master, spec.distributed_framework) == (1, False, None)


@pytest.mark.parametrize("kind", ONE_POD)
def test_a_document_of_one_pod_has_no_fields_of_gangs(kind: WorkloadKind) -> None:
    given = TRAINING | {"kind": kind.value}
    document = documents.dump_spec(documents.load_spec(given))
    assert not document.keys() & {*GANG_FIELDS, "slotsPerWorker", "minReplicas"}
    assert document["kind"] == kind
    assert documents.load_spec(document) == documents.load_spec(given)
    assert documents.without_defaults(document) == given


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("distributedFramework", "PyTorch"),
        ("numWorkers", 2),
        ("architecture", "workers_only"),
        ("master", {"image": "img:1"}),
        ("minReplicas", 1),
        ("cleanPodPolicy", "All"),
    ],
)
def test_fields_that_only_a_gang_has_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(SpecError) as refused:
        documents.load_spec(TRAINING | {field: value})
    assert refused.value.problems[0].field == field


def test_a_standard_training_may_say_how_many_processes_torchrun_starts() -> None:
    spec = documents.load_spec(TRAINING | {"processesPerPod": 4})
    assert (spec.world_size, spec.num_pods) == (4, 1)
    assert documents.dump_spec(spec)["processesPerPod"] == 4
    wire = documents.to_wire(documents.dump_spec(spec))
    again = documents.one_pod_from_wire(wire, WorkloadKind.TRAINING)
    assert documents.load_spec({"kind": "training", **again}) == spec
    with pytest.raises(SpecError) as refused:
        documents.load_spec(TRAINING | {"kind": "workspace", "processesPerPod": 4})
    assert refused.value.problems[0].field == "processesPerPod"


def test_a_distributed_training_needs_a_framework() -> None:
    with pytest.raises(SpecError) as refused:
        documents.load_spec({"worker": {"image": "img:1"}})
    assert [(it.field, it.message) for it in refused.value.problems] == [
        ("distributedFramework", "is required")
    ]


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SpecError) as refused:
        documents.load_spec(TRAINING | {"kind": "inference"})
    assert refused.value.problems[0].field == "kind"
