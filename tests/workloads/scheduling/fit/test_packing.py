"""The packing against one that tries every place: on small clusters both say the same."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from workloads.scheduling.fit.packing import NOWHERE, Ask, Free, Spot, pack, pack_together

CORES = st.integers(0, 4)
ASKS = st.builds(
    Ask,
    cpu=st.integers(1, 3),
    memory=st.integers(1, 3),
    devices=st.integers(0, 2),
)
FREES = st.builds(
    Free,
    cpu=CORES,
    memory=CORES,
    devices=st.integers(0, 4).map(lambda count: (1.0,) * count),
)
SPOTS = st.builds(
    Spot, nodes=st.integers(1, 2), free=FREES, worker=st.booleans(), master=st.booleans()
)
CLUSTERS = st.lists(SPOTS, max_size=3)


def places(spots: list[Spot]) -> list[Spot]:
    """Node by node."""
    return [Spot(1, it.free, it.worker, it.master) for it in spots for _ in range(it.nodes)]


def after(free: Free, ask: Ask) -> Free | None:
    """What is left beside one such pod; ``None`` where it does not fit."""
    devices = len(free.devices) - ask.devices
    cpu = free.cpu - ask.cpu
    memory = free.memory - ask.memory
    return Free(cpu, memory, (1.0,) * devices) if min(devices, cpu, memory) >= 0 else None


def most(nodes: list[Spot], worker: Ask) -> int:
    """Tries a pod on each node, and all that follows from that."""
    best = 0
    for at, node in enumerate(nodes):
        left = after(node.free, worker) if node.worker else None
        if left is not None:
            rest = [*nodes[:at], Spot(1, left, node.worker, node.master), *nodes[at + 1 :]]
            return 1 + most(rest, worker)  # all workers are alike: any order fills the same nodes
    return best


def with_master(nodes: list[Spot], worker: Ask, master: Ask) -> Iterator[int]:
    for at, node in enumerate(nodes):
        left = after(node.free, master) if node.master else None
        if left is not None:
            rest = [*nodes[:at], Spot(1, left, node.worker, node.master), *nodes[at + 1 :]]
            yield most(rest, worker)


@given(CLUSTERS, ASKS)
def test_workers_alone(spots: list[Spot], worker: Ask) -> None:
    assert pack(spots, worker, None).best == most(places(spots), worker)


@given(CLUSTERS, ASKS, ASKS)
def test_workers_and_a_master(spots: list[Spot], worker: Ask, master: Ask) -> None:
    every = list(with_master(places(spots), worker, master)) or [NOWHERE]
    packing = pack(spots, worker, master)
    assert (packing.best, packing.worst) == (max(every), min(every))


@given(st.lists(CLUSTERS, max_size=3), ASKS)
def test_the_largest_domain_decides_where_all_pods_are_together(
    domains: list[list[Spot]], worker: Ask
) -> None:
    every = [most(places(spots), worker) for spots in domains]
    assert max(pack_together(domains, worker, None).best, 0) == max([0, *every])


def test_portions_share_devices_and_the_fullest_goes_first() -> None:
    half = Ask(0, 0, 1, 0.5)
    free = Free(0, 0, (0.4, 0.6, 1.0))
    assert free.room(half) == 3
    assert free.without(half).devices == (0.09999999999999998, 0.4, 1.0)
    assert free.room(Ask(0, 0, 1)) == 1
