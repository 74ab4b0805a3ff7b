"""Seats: a resource of one node, of which each rank takes one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from engines.base import Launch
from engines.kubernetes.client.api import Api
from spec.parts.compute import ExtendedResource

SEAT = "trainyard.io/seat"
ONE = (ExtendedResource(resource=SEAT, quantity="1"),)


@contextmanager
def seats(api: Api, number: int) -> Iterator[None]:
    """The first real node has this number of seats."""
    nodes = api.items("/api/v1/nodes")
    real = next(node for node in nodes if node["status"]["nodeInfo"]["machineID"])
    path = f"/api/v1/nodes/{real['metadata']['name']}/status"

    def offer(amount: str | None) -> None:
        room = {SEAT: amount}
        api.merge(path, {"status": {"capacity": room, "allocatable": room}})

    offer(str(number))
    try:
        yield
    finally:
        offer(None)


def with_seats(launched: Launch) -> Launch:
    """The launch with a seat for each of its workers."""
    worker = launched.spec.worker
    compute = worker.compute.model_copy(update={"extended_resources": ONE})
    seated = worker.model_copy(update={"compute": compute})
    return replace(launched, spec=launched.spec.model_copy(update={"worker": seated}))
