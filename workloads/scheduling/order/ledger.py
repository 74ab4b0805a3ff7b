"""Keep account of quotas while the order of starts is decided."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from projects.quotas import Demand
from workloads.scheduling.order.records import Allowance, Contender, Tenant

Sums = defaultdict[str, Demand]


class Ledger:
    """Sums of demand by project and department.

    ``held`` is everything in place now; ``staying`` is that without what is ending. ``within`` runs
    in quota, ``firm`` cannot be preempted. ``over`` are the gangs over quota: non-preemptible ones
    count towards the quota first, then the oldest.
    """

    def __init__(self, running: Collection[Tenant], allowances: Mapping[str, Allowance]) -> None:
        self.allowances = allowances
        self.held, self.staying = Sums(Demand), Sums(Demand)
        self.within, self.firm = Sums(Demand), Sums(Demand)
        self.kept = Sums(Demand)  # reserved for gangs that wait for a strict quota
        self.over: set[str] = set()
        for tenant in running:
            _add(self.held, tenant.gang)
        staying = [tenant for tenant in running if not tenant.ending]
        for tenant in sorted(staying, key=_seniority):
            gang = tenant.gang
            if self._exceeds(self.within, gang):
                self.over.add(gang.key)
            else:
                _add(self.within, gang)
            _add(self.staying, gang)
            if not gang.preemptible:
                _add(self.firm, gang)

    def in_quota(self, gang: Contender) -> bool:
        """Whether a gang is in quota. All usage of its project counts; of its department only what
        runs in quota, because the rest can be preempted."""
        if not gang.preemptible:  # its project's preemptible gangs make room for it
            return not self._exceeds(self.firm, gang)
        own, shared = self.allowances[gang.project], self.allowances.get(gang.department)
        if own.exceeded_by(self.staying[gang.project], gang.demand):
            return False
        return not (shared and shared.exceeded_by(self.within[gang.department], gang.demand))

    def barred_by(self, gang: Contender, *, leaving: Iterable[Tenant] | None = None) -> str:
        """The key of a strict allowance that the gang would exceed; empty if there is none.

        With ``leaving`` it is judged as if these, and what is ending, were gone.
        """
        sums = self.held if leaving is None else self.staying
        gone = Sums(Demand)
        for tenant in leaving or ():
            _add(gone, tenant.gang)
        for key in gang.owners:
            allowance = self.allowances.get(key)
            held = sums[key] + self.kept[key] - gone[key]
            if allowance and allowance.strict and allowance.exceeded_by(held, gang.demand):
                return key
        return ""

    def count(self, gang: Contender, *, in_quota: bool) -> None:
        """Count a gang that starts, or for which room is reserved."""
        for sums in (self.held, self.staying, *((self.within,) if in_quota else ())):
            _add(sums, gang)
        if not gang.preemptible:
            _add(self.firm, gang)

    def keep(self, gang: Contender, key: str) -> None:
        """Reserve for a waiting gang under a strict quota, unless it waits in vain."""
        if not self.allowances[key].exceeded_by(Demand(), gang.demand):
            self.kept[key] += gang.demand

    def end(self, tenant: Tenant) -> None:
        """Count a gang that is preempted."""
        for key in tenant.gang.owners:
            self.staying[key] -= tenant.gang.demand
        self.over.discard(tenant.gang.key)

    def _exceeds(self, sums: Sums, gang: Contender) -> bool:
        allowances = ((key, self.allowances.get(key)) for key in gang.owners)
        return any(it and it.exceeded_by(sums[key], gang.demand) for key, it in allowances)


def _seniority(tenant: Tenant) -> tuple[bool, float, str]:
    return tenant.gang.preemptible, tenant.started, tenant.gang.key


def _add(sums: Sums, gang: Contender) -> None:
    for key in gang.owners:
        sums[key] += gang.demand
