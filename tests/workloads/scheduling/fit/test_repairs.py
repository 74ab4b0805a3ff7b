"""What is offered to a gang that does not start: each was tried, so each does what it says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from spec.formats import documents
from spec.parts.compute import Compute
from spec.parts.scheduling import NODE_TYPE
from spec.workload import WorkloadSpec
from tests.workloads.scheduling.fit.grounds import gang, ground, nodes
from workloads.scheduling.fit.judge import Answer, Ground, predict_fit
from workloads.scheduling.fit.repairs import ComputeChoice, Repair, find_repairs

FREE = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 8)), min_size=1, max_size=4)


def offers(
    spec: WorkloadSpec, on: Ground, choices: tuple[ComputeChoice, ...] = ()
) -> dict[str, Repair]:
    return {it.change: it for it in find_repairs(spec, on, predict_fit(spec, on), choices)}


def test_a_gang_that_starts_needs_no_repair() -> None:
    assert not offers(gang(2), ground(nodes(1)))


def test_fewer_workers_are_as_many_as_fit_now() -> None:
    offered = offers(gang(6), ground(nodes(1), nodes(1, free=0)))
    assert list(offered) == ["workers=4"]
    assert offered["workers=4"].label == "4 workers"


def test_a_gang_that_never_fits_is_offered_fewer_workers() -> None:
    fit = predict_fit(gang(6), ground(nodes(1)))
    assert (fit.answer, fit.largest) == (Answer.NEVER, 4)
    assert offers(gang(6), ground(nodes(1)))["workers=4"].answer is Answer.NOW


def test_the_same_gpus_in_another_shape_take_cpu_and_memory_along() -> None:
    repair = offers(gang(2, gpus=4), ground(nodes(4, free=2)))["shape=4x2"]
    compute = repair.spec.worker.compute
    assert (repair.label, repair.spec.num_workers) == ("4 workers × 2 GPUs", 4)
    assert (compute.gpu_devices_request, compute.cpu_core_request) == (2, 0.5)
    assert compute.cpu_memory_request == "512Mi"


def test_a_master_that_inherits_counts_in_the_shape() -> None:
    offered = offers(gang(1, gpus=4, master=True), ground(nodes(4, free=2)))
    assert offered["shape=3x2"].spec.gpus() == 8


def test_another_node_pool_or_type_with_room_is_offered() -> None:
    pools = ground(nodes(1, free=0, pool="full"), nodes(2, pool="idle"))
    assert list(offers(gang(2, whole={"nodePools": ["full"]}), pools)) == ["pool=idle"]
    types = ground(
        nodes(1, free=0, labels={NODE_TYPE: "a100"}), nodes(1, labels={NODE_TYPE: "h100"})
    )
    assert list(offers(gang(2, nodeType="a100"), types)) == ["type=h100"]


def test_another_compute_resource_that_fits_is_offered() -> None:
    small = ComputeChoice("1", "small", Compute(gpu_devices_request=1))
    none = ComputeChoice("2", "none", Compute())
    offered = offers(gang(3, gpus=2), ground(nodes(1, free=3), nodes(3, free=0)), (small, none))
    assert offered["compute=1"].label == "Compute resource small"
    assert "compute=2" not in offered


def test_a_gang_that_never_starts_is_offered_what_starts_some_day() -> None:
    offered = offers(gang(2, gpus=8), ground(nodes(4, free=1)))
    assert {it.answer for it in offered.values()} == {Answer.LATER}
    assert "shape=4x4" in offered


@settings(max_examples=60)
@given(FREE, st.integers(1, 12), st.integers(1, 8), st.booleans())
def test_every_repair_is_a_valid_spec_that_does_what_it_says(
    free: list[tuple[int, int]], workers: int, gpus: int, master: bool
) -> None:
    on = ground(*(nodes(count, gpus=8, free=left) for count, left in free))
    for repair in offers(gang(workers, gpus, master=master), on).values():
        assert documents.load_spec(documents.dump_spec(repair.spec)) == repair.spec
        assert predict_fit(repair.spec, on).answer == repair.answer
