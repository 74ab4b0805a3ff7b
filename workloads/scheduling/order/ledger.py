"""Keep account of quotas while the order of starts is decided."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from projects.quotas import Demand
from workloads.scheduling.order.records import Allowance, Contender, Tenant

Sums = defaultdict[str, Demand]


@dataclass(frozen=True)
class QuotaTurn:
    """A gang for which a quota's next room is reserved. ``at`` is when the quota has room for it at
    the latest; ``None`` if gangs without a time limit are in the way."""

    gang: Contender
    at: float | None = None

    def excludes(self, other: Contender, now: float) -> bool:
        """Whether ``other`` must not use the quota first. A preemptible gang may, if this one is
        not preemptible, because it would make room."""
        if other is self.gang or (other.preemptible and not self.gang.preemptible):
            return False
        return other.outlives(self.at, now)


class Ledger:
    """Sums of demand by project and department. Five sums answer different questions:

    - ``used``: the demand of all gangs in place. A limit is compared with this sum.
    - ``used_by_staying``: the same without gangs that are ending. The quota of the gang's own
      project is compared with this sum.
    - ``used_in_quota``: gangs that run within their quota. The quota of a department is compared
      with this sum, because the other gangs can be preempted.
    - ``used_by_firm``: gangs that cannot be preempted. Both quotas are compared with this sum if
      the new gang is not preemptible either, because all others make room for it.
    - ``reserved``: gangs that wait for a limit.

    ``over_quota`` has the keys of gangs that run over quota: non-preemptible gangs count towards
    the quota first, then the oldest. ``turns`` has the first gang of each project that waits for a
    quota, separately for preemptible and non-preemptible gangs.

    An example: a project with a quota of 4 GPUs runs four gangs, oldest first.

    - A has 2 GPUs and cannot be preempted, B has 2, and C has 3. D has 1 and is ending.
    - ``used`` is 8 (all of them), ``used_by_staying`` is 7 (without D), ``used_in_quota`` is 4 (A
      and B), ``used_by_firm`` is 2 (A). ``over_quota`` has C, which did not fit beside A and B.
    - A new preemptible gang of 1 GPU is over quota: 7 + 1 is more than 4. A new gang of 2 that
      cannot be preempted is in quota: it is compared with ``used_by_firm``, and 2 + 2 is not more
      than 4. B or C makes room for it."""

    def __init__(
        self, running: Collection[Tenant], allowances: Mapping[str, Allowance], now: float = 0.0
    ) -> None:
        self.allowances = allowances
        self.now = now
        self.turns: dict[tuple[str, str, bool], QuotaTurn] = {}
        self.used = Sums(Demand)
        self.used_by_staying = Sums(Demand)
        self.used_in_quota = Sums(Demand)
        self.used_by_firm = Sums(Demand)
        self.reserved = Sums(Demand)
        self.over_quota: set[str] = set()
        for tenant in running:
            _add(self.used, tenant.gang)
        self.tenants = sorted((it for it in running if not it.ending), key=_seniority)
        self.endless = [it.gang for it in self.tenants if not it.gang.ends]
        for tenant in self.tenants:
            gang = tenant.gang
            if self._exceeds_quota(self.used_in_quota, gang):
                self.over_quota.add(gang.key)
            else:
                _add(self.used_in_quota, gang)
            _add(self.used_by_staying, gang)
            if not gang.preemptible:
                _add(self.used_by_firm, gang)

    def is_in_quota(self, gang: Contender) -> bool:
        """Whether the gang is in quota: each of its quotas has room for it, and none reserves that
        room for an earlier one."""
        return not self._full_quota(gang) and not self._find_reservation(gang)

    def reserved_quota(self, gang: Contender) -> str:
        """Return the key of a quota that has room for the gang, but reserves that for an earlier
        one; empty if there is none."""
        return "" if self._full_quota(gang) else self._find_reservation(gang)

    def quota_to_reserve(self, gang: Contender) -> str:
        """Return the key of the quota whose next room is to be reserved for the gang, because it is
        the first of its project that waits for that quota. Otherwise a stream of small gangs could
        keep a large one waiting for ever. Empty if nothing is to be reserved.

        Nothing is reserved for a gang that waits in vain: one that is larger than a quota, or for
        which gangs that never end leave no room.
        """
        key = self._full_quota(gang)
        if not key or (key, gang.project, gang.preemptible) in self.turns:
            return ""
        return "" if any(self._waits_in_vain(it, gang) for it in gang.owners) else key

    def reserve_turn(self, gang: Contender, key: str) -> None:
        """Reserve the next room of a quota. This holds back only gangs of the same project: others
        are entitled to the quota of their own."""
        turn = QuotaTurn(gang, self._time_of_room(key, gang))
        self.turns[key, gang.project, gang.preemptible] = turn

    def _find_reservation(self, gang: Contender) -> str:
        for key, preemptible in product(gang.owners, (True, False)):
            turn = self.turns.get((key, gang.project, preemptible))
            if turn and turn.excludes(gang, self.now):
                demand = self._counted_demand(key, gang) + turn.gang.demand
                if self.allowances[key].exceeded_by(demand, gang.demand):
                    return key
        return ""

    def _waits_in_vain(self, key: str, gang: Contender) -> bool:
        allowance = self.allowances.get(key)
        staying = Demand()
        if allowance is None:
            return False
        for endless in self.endless:
            if self._is_counted(key, endless, gang):
                staying += endless.demand
        return allowance.exceeded_by(staying, gang.demand)

    def _full_quota(self, gang: Contender) -> str:
        """Return the key of a quota that has no room for the gang, its project's before its
        department's; empty if both have room."""
        for key in gang.owners:
            allowance = self.allowances.get(key)
            if allowance and allowance.exceeded_by(self._counted_demand(key, gang), gang.demand):
                return key
        return ""

    def _counted_demand(self, key: str, gang: Contender) -> Demand:
        """Return the demand that counts against a quota when ``gang`` is compared with it.

        For a non-preemptible gang only other non-preemptible ones count, because the rest makes
        room for it. Otherwise all usage of its project counts; of its department only what runs in
        quota, because the rest can be preempted.
        """
        if not gang.preemptible:
            return self.used_by_firm[key]
        return self.used_by_staying[key] if key == gang.project else self.used_in_quota[key]

    def _time_of_room(self, key: str, gang: Contender) -> float | None:
        """Return when the quota has room for ``gang`` at the latest, by the time limits of gangs
        that count against it; ``None`` if those do not free enough."""
        demand = self._counted_demand(key, gang)
        limited = [(it.until, it.gang) for it in self.tenants if it.until is not None]
        for until, tenant in sorted(limited, key=lambda pair: (pair[0], pair[1].key)):
            if self._is_counted(key, tenant, gang):
                demand -= tenant.demand
            if not self.allowances[key].exceeded_by(demand, gang.demand):
                return until
        return None

    def _is_counted(self, key: str, tenant: Contender, gang: Contender) -> bool:
        """Whether ``tenant`` is part of what :meth:`_counted` sums up."""
        if key not in tenant.owners:
            return False
        if not gang.preemptible:
            return not tenant.preemptible
        return key == gang.project or tenant.key not in self.over_quota

    def barring_quota(self, gang: Contender, *, leaving: Iterable[Tenant] | None = None) -> str:
        """Return the key of a quota whose limit the gang would exceed; empty if there is none.

        With ``leaving``, the demand of these gangs and of all that are ending does not count.
        """
        sums = self.used if leaving is None else self.used_by_staying
        gone = Sums(Demand)
        for tenant in leaving or ():
            _add(gone, tenant.gang)
        for key in gang.owners:
            allowance = self.allowances.get(key)
            demand = sums[key] + self.reserved[key] - gone[key]
            if allowance and allowance.limit_exceeded_by(demand, gang.demand):
                return key
        return ""

    def count_gang(self, gang: Contender, *, in_quota: bool) -> None:
        """Count a gang that starts, or for which room is reserved."""
        _add(self.used, gang)
        _add(self.used_by_staying, gang)
        if in_quota:
            _add(self.used_in_quota, gang)
        if not gang.preemptible:
            _add(self.used_by_firm, gang)

    def reserve_demand(self, gang: Contender, key: str) -> None:
        """Reserve demand for a gang that waits for a limit, unless it is larger than the limit."""
        if not self.allowances[key].limit_exceeded_by(Demand(), gang.demand):
            self.reserved[key] += gang.demand

    def count_preemption(self, tenant: Tenant) -> None:
        """Stop counting a gang that is preempted, except in ``used``: it holds its resources until
        it has ended."""
        for key in tenant.gang.owners:
            self.used_by_staying[key] -= tenant.gang.demand
        self.over_quota.discard(tenant.gang.key)

    def _exceeds_quota(self, sums: Sums, gang: Contender) -> bool:
        allowances = ((key, self.allowances.get(key)) for key in gang.owners)
        return any(it and it.exceeded_by(sums[key], gang.demand) for key, it in allowances)


def _seniority(tenant: Tenant) -> tuple[bool, float, str]:
    return tenant.gang.preemptible, tenant.started, tenant.gang.key


def _add(sums: Sums, gang: Contender) -> None:
    for key in gang.owners:
        sums[key] += gang.demand
