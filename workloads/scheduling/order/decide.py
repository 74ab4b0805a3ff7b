"""Decide who starts, who waits, and who is preempted: the order of starts as a pure function.

In-quota goes before over-quota, then by rank of the project, then by age. A gang starts whole or
not at all. One that starts before a waiting one does not delay it, see ``backfill``, nor does it
use quota that an older one waits for, see ``Ledger.keep_turn``. If the owner of a quota finds no
room, preemptible gangs that run over quota are preempted: those of the lowest rank first, then the
newest. Gangs that are not preemptible never go over quota.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from spec.phases import Reason
from workloads.scheduling.order.backfill import Reservation
from workloads.scheduling.order.ledger import Ledger
from workloads.scheduling.order.records import (
    Allowance,
    Contender,
    Decision,
    DecisionKind,
    Tenant,
    names_for,
)
from workloads.scheduling.placement import Placement, Room, place_shape, shortages_of_shape

IN_QUOTA = "It is within the quota of {project}."
OVER_QUOTA = "Over the quota of {project}: no one with a better claim needs what is free."
QUOTA_RESERVED = (
    "What is left of the quota of {project} is kept for others that are ahead of it: no one with \
a better claim needs what is free."
)
BEHIND = "Waiting behind others of {project} that wait for its quota."
NON_PREEMPTIBLE = (
    "{project}'s quota has no room for it, and it is non-preemptible, so it never goes over."
)


def decide(
    queue: Collection[Contender],
    running: Collection[Tenant],
    capacity: Room,
    allowances: Mapping[str, Allowance],
    *,
    now: float,
) -> list[Decision]:
    """Returns a decision for each gang in the queue, and one for each that is preempted."""
    order = StartOrder(running, capacity, allowances, now)
    rest = []
    for gang in sorted(queue, key=lambda gang: gang.sort_key):
        if order.ledger.is_in_quota(gang):
            order.decide_in_quota(gang)
        else:
            order.reserve_turn(gang)
            rest.append(gang)
    order.most_heads = 2  # room is reserved for the first of each class
    for gang in rest:
        order.decide_over_quota(gang)
    return order.decisions


class StartOrder:
    """A round of decisions. ``free`` is what is free now; ``later`` is what will be free once
    everything that is ending has ended, without what is reserved for gangs that preempt."""

    def __init__(
        self,
        running: Collection[Tenant],
        capacity: Room,
        allowances: Mapping[str, Allowance],
        now: float,
    ) -> None:
        self.running = list(running)
        self.capacity = capacity
        self.allowances = allowances
        self.now = now
        self.ledger = Ledger(running, allowances, now)
        self.free = capacity.copy()
        for tenant in running:
            tenant.gang.shape.occupy(self.free, tenant.placement)
        self.later = self.free.copy()
        self.ending = [tenant for tenant in running if tenant.ending]
        for tenant in self.ending:
            tenant.gang.shape.release(self.later, tenant.placement)
        self.heads: list[Reservation] = []
        self.most_heads = 1
        self.decisions: list[Decision] = []

    def decide_in_quota(self, gang: Contender) -> None:
        """Start a gang in its quota: in free room, in room that is being freed, or by preempting
        others."""
        barred = self.ledger.barring_quota(gang)
        if self._never_fits(gang):
            return
        if not barred and self._start(gang, self._with_quota_name(IN_QUOTA, gang), in_quota=True):
            return
        leaving = self._gangs_to_preempt(gang)
        if leaving is not None:
            self._preempt(gang, leaving)
        elif barred:
            self._wait_for_quota(gang, barred)
        else:
            self._keep_waiting(gang)
            self.ledger.count_gang(gang, in_quota=True)

    def reserve_turn(self, gang: Contender) -> None:
        """Reserve the quota that it waits for, unless the machine is too small for it anyway."""
        key = self.ledger.quota_to_reserve(gang)
        if key and place_shape(gang.shape, self.capacity) is not None:
            self.ledger.reserve_turn(gang, key)

    def decide_over_quota(self, gang: Contender) -> None:
        if self._never_fits(gang):
            return
        if not gang.preemptible:
            key = self.ledger.reserved_quota(gang)
            why = self._with_quota_name(BEHIND if key else NON_PREEMPTIBLE, gang, key)
            self._wait(gang, why, Reason.WAITING_FOR_QUOTA)
        elif barred := self.ledger.barring_quota(gang):
            self._wait_for_quota(gang, barred)
        else:
            key = self.ledger.reserved_quota(gang)
            why = self._with_quota_name(QUOTA_RESERVED if key else OVER_QUOTA, gang, key)
            if not self._start(gang, why, in_quota=False):
                self._keep_waiting(gang)

    def _start(self, gang: Contender, why: str, *, in_quota: bool) -> bool:
        placement = place_shape(gang.shape, self.free.common(self.later))
        if placement is None:
            return False
        passes = [it.reason_to_pass(gang, placement, self.later, self.now) for it in self.heads]
        if not all(passes):
            return False
        gang.shape.occupy(self.free, placement)
        gang.shape.occupy(self.later, placement)
        for head in self.heads:
            head.record_passing(gang, placement, self.now)
        self.ledger.count_gang(gang, in_quota=in_quota)
        text = " ".join([why, *passes[:1]])
        ahead = self.heads[0].gang if self.heads else None
        self.decisions.append(
            Decision(gang, DecisionKind.START, text, placement=placement, other=ahead)
        )
        return True

    def _gangs_to_preempt(self, gang: Contender) -> Sequence[Tenant] | None:
        """Gangs to preempt for it; empty if what is ending suffices. ``None`` if it could not start
        anyway."""
        if self._fits_without(gang, ()):
            return ()
        if not self.allowances[gang.project].promises(gang.demand):
            return None
        over = [
            tenant
            for tenant in self.running
            if tenant.gang.key in self.ledger.over_quota and tenant.gang.preemptible
        ]
        over.sort(key=lambda it: (it.gang.rank, -it.started, it.gang.key))
        chosen: list[Tenant] = []
        for tenant in over:
            chosen.append(tenant)
            if self._fits_without(gang, chosen):
                break
        else:
            return None
        for tenant in chosen[:-1]:
            spared = [it for it in chosen if it is not tenant]
            if self._fits_without(gang, spared):
                chosen = spared
        return chosen

    def _fits_without(self, gang: Contender, leaving: Sequence[Tenant]) -> bool:
        later = self._later_without(leaving)
        placement = place_shape(gang.shape, later)
        if placement is None or self.ledger.barring_quota(gang, leaving=leaving):
            return False
        return all(head.reason_to_pass(gang, placement, later, self.now) for head in self.heads)

    def _later_without(self, leaving: Sequence[Tenant]) -> Room:
        later = self.later.copy()
        for tenant in leaving:
            tenant.gang.shape.release(later, tenant.placement)
        return later

    def _preempt(self, gang: Contender, leaving: Sequence[Tenant]) -> None:
        """Preempt gangs, and reserve their room."""
        self.later = self._later_without(leaving)
        self.ending += [replace(it, leaves_by=self.now + it.gang.grace) for it in leaving]
        placement = self._earliest_placement(gang)
        gang.shape.occupy(self.later, placement)
        for tenant in leaving:
            self.ledger.count_preemption(tenant)
            why = f"Taken back by {gang.name_for(tenant.gang)}, within its quota."
            self.decisions.append(
                Decision(tenant.gang, DecisionKind.PREEMPT, why, Reason.PREEMPTED, other=gang)
            )
        for head in self.heads:
            head.record_passing(gang, placement, self.now)
        self.ledger.count_gang(gang, in_quota=True)
        names = names_for([tenant.gang for tenant in leaving or self.ending], gang)
        self._wait(
            gang, f"{self._with_quota_name(IN_QUOTA, gang)} It waits for the end of {names}."
        )

    def _earliest_placement(self, gang: Contender) -> Placement:
        """The places it can have first, so that room that is freed for it is not given to
        another."""
        room = self.later.copy()
        places = place_shape(gang.shape, room) or {}
        for tenant in sorted(self.ending, key=lambda it: it.leaves_by or 0.0, reverse=True):
            tenant.gang.shape.occupy(room, tenant.placement)
            sooner = place_shape(gang.shape, room)
            if sooner is None:
                break
            places = sooner
        return places

    def _keep_waiting(self, gang: Contender) -> None:
        if self.heads:
            head = self.heads[0].gang
            text = (
                f"Waiting behind {head.name_for(gang)}, which is ahead of it and does not fit yet."
            )
            self._wait(gang, text, other=head)
        else:
            lacking = "; ".join(
                shortages_of_shape(gang.shape, self.free.common(self.later), gang.demand.gpus)
            )
            self._wait(gang, f"Not enough free capacity: {lacking}.")
        if len(self.heads) < self.most_heads:
            self.heads.append(Reservation.of(gang, self.later, self.running))

    def _wait_for_quota(self, gang: Contender, key: str) -> None:
        """Let a gang wait for a limit, which holds back only gangs under that limit."""
        allowance = self.allowances[key]
        over = allowance.excess(self.ledger.used[key], gang.demand)
        text = f"With it, {allowance.owner} would hold {over}. It starts when other workloads end."
        if not over:
            text = BEHIND.format(project=allowance.owner)
        self._wait(gang, text, Reason.WAITING_FOR_QUOTA)
        self.ledger.reserve_demand(gang, key)

    def _never_fits(self, gang: Contender) -> bool:
        """Whether a gang needs more than exists; it then holds nobody back."""
        if place_shape(gang.shape, self.capacity) is not None:
            return False
        lacking = "; ".join(shortages_of_shape(gang.shape, self.capacity, gang.demand.gpus))
        self._wait(gang, f"Not enough capacity, even when nothing else runs: {lacking}.")
        return True

    def _wait(
        self,
        gang: Contender,
        why: str,
        reason: Reason = Reason.WAITING_FOR_CAPACITY,
        other: Contender | None = None,
    ) -> None:
        self.decisions.append(Decision(gang, DecisionKind.WAIT, why, reason, other=other))

    def _with_quota_name(self, text: str, gang: Contender, key: str = "") -> str:
        """``text`` with the name of the allowance ``key``, or of the gang's project."""
        return text.format(project=self.allowances[key or gang.project].owner)
