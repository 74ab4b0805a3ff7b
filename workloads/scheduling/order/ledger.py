"""Who holds how much of what it is entitled to, while an order of starts is decided."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from projects.quotas import Demand
from workloads.scheduling.order.records import Allowance, Contender, Tenant

Sums = defaultdict[str, Demand]


class Ledger:
    """Sums by the keys of projects and departments.

    ``held`` is what has a place now, ``staying`` the same without what is ending. ``within`` is
    what runs within quota, ``firm`` what cannot be taken back. ``over`` are the keys of the gangs
    that run over quota: what cannot be taken back counts first, then the oldest.
    """

    def __init__(self, running: Collection[Tenant], allowances: Mapping[str, Allowance]) -> None:
        self.allowances = allowances
        self.held, self.staying = Sums(Demand), Sums(Demand)
        self.within, self.firm = Sums(Demand), Sums(Demand)
        self.kept = Sums(Demand)  # for those that wait for a quota that is never passed
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
        """Whether it may claim its place. What its project holds counts, whatever it is; of the
        department only what runs within quota, for the rest can be taken back."""
        if not gang.preemptible:  # what can be taken back of its own makes room for it
            return not self._exceeds(self.firm, gang)
        own, shared = self.allowances[gang.project], self.allowances.get(gang.department)
        if own.exceeded_by(self.staying[gang.project], gang.demand):
            return False
        return not (shared and shared.exceeded_by(self.within[gang.department], gang.demand))

    def barred_by(self, gang: Contender, *, leaving: Iterable[Tenant] | None = None) -> str:
        """The key of an allowance that is never passed, and would be; empty where none would.

        With ``leaving``: once these, and what is ending, are gone.
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
        """It starts, or what it claims is kept for it."""
        for sums in (self.held, self.staying, *((self.within,) if in_quota else ())):
            _add(sums, gang)
        if not gang.preemptible:
            _add(self.firm, gang)

    def keep(self, gang: Contender, key: str) -> None:
        """Let nobody behind it use up what it waits for, unless it waits in vain."""
        if not self.allowances[key].exceeded_by(Demand(), gang.demand):
            self.kept[key] += gang.demand

    def end(self, tenant: Tenant) -> None:
        """It is taken back."""
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
