"""Backfilling: start gangs before one that waits, if that does not delay it. Pure.

With time limits it is known when the waiting gang will start: whatever ends before, or fits next to
it, may start first. Without them only what leaves its resources alone may.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from workloads.scheduling.order.records import Contender, Tenant
from workloads.scheduling.placement import TINY, Placement, Room, Shape, devices_for, place_shape


@dataclass
class Reservation:
    """A gang at the head of the queue. If all gangs that it waits for have time limits, ``at`` is
    its latest start and ``room`` is what is free then."""

    gang: Contender
    at: float | None = None
    room: Room | None = None

    @classmethod
    def of(cls, gang: Contender, later: Room, running: Iterable[Tenant]) -> "Reservation":
        """Reserve room for a gang. ``later`` is what will be free once everything that is ending
        has ended."""
        room = later.copy()
        limited = [(it.until, it) for it in running if not it.ending and it.until is not None]
        for until, tenant in sorted(limited, key=lambda pair: (pair[0], pair[1].gang.key)):
            tenant.gang.shape.release(room, tenant.placement)
            if place_shape(gang.shape, room) is not None:
                return cls(gang, until, room)
        return cls(gang)

    def reason_to_pass(self, gang: Contender, placement: Placement, later: Room, now: float) -> str:
        """Return why ``gang`` may start before this one, in words; empty if it may not."""
        after = later.copy()
        ahead = self.gang.name_for(gang)
        gang.shape.occupy(after, placement)
        if leaves_enough(gang.shape, self.gang.shape, after):
            return f"It needs nothing that {ahead}, which is ahead of it, waits for."
        if self.at is None or self.room is None:
            return ""
        if gang.outlives(self.at, now):
            beside = self.room.copy()
            gang.shape.occupy(beside, placement)
            if place_shape(self.gang.shape, beside) is None:
                return ""
            return f"When its turn comes, {ahead}, which is ahead of it, fits next to it."
        return f"By its time limit it ends before {ahead}, which is ahead of it, can start."

    def record_passing(self, gang: Contender, placement: Placement, now: float) -> None:
        """Record a gang that starts first: if it still runs at the reserved start, less is free
        then."""
        if self.room is not None and gang.outlives(self.at, now):
            gang.shape.occupy(self.room, placement)


def leaves_enough(shape: Shape, ahead: Shape, after: Room) -> bool:
    """Whether enough of everything that ``shape`` takes remains for ``ahead``."""
    if shape.cpu and after.cpu + TINY < ahead.cpu:
        return False
    if shape.memory and after.memory < ahead.memory:
        return False
    devices = shape.wants_devices and ahead.wants_devices
    return not devices or devices_for(ahead, after.gpus) is not None
