"""What the projects or departments of a cluster borrow from and lend to each other."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from clusters.models import Cluster
from projects.models import Department, Project
from projects.pool_quotas import (
    DEFAULT_WEIGHT,
    DepartmentQuotaColumns,
    ProjectQuotaColumns,
    pool_names,
    quota_row,
)
from projects.quotas import Demand, Quota
from spec.values.quantities import format_bytes

K = TypeVar("K", bound=Hashable)
BAR_WIDTH = 100


@dataclass(frozen=True)
class Balance:
    """What an owner of a quota may use and uses of a resource. ``borrowed`` is used beyond the
    quota; ``lent`` is idle in the quota and used by others beyond theirs. ``deserved`` is ``None``
    without a limit."""

    deserved: float | None
    used: float
    borrowed: float = 0.0
    lent: float = 0.0


@dataclass(frozen=True)
class Segment:
    """A part of a bar: what it shows, the amount in words, and where it is drawn."""

    kind: str
    label: str
    text: str
    start: float
    width: float


@dataclass(frozen=True)
class QuotaBar:
    """A balance as a bar. Without a limit it has no segments, only the text."""

    label: str
    text: str
    segments: tuple[Segment, ...]


def balances_of(owners: Mapping[K, tuple[float | None, float]]) -> dict[K, Balance]:
    """Return the balance of each owner on one cluster, by what it deserves and uses.

    Nobody records who borrows from whom, so what is borrowed counts as lent by all owners whose
    quota is idle, in proportion to what they leave idle.
    """
    borrowed: dict[K, float] = {}
    idle: dict[K, float] = {}
    for key, (deserved, used) in owners.items():
        borrowed[key] = 0.0 if deserved is None else max(used - deserved, 0.0)
        idle[key] = 0.0 if deserved is None else max(deserved - used, 0.0)
    total_idle = sum(idle.values())
    lent_part = min(sum(borrowed.values()) / total_idle, 1.0) if total_idle else 0.0
    return {
        key: Balance(deserved, used, round(borrowed[key], 4), round(idle[key] * lent_part, 4))
        for key, (deserved, used) in owners.items()
    }


def quota_bars(owners: Mapping[K, tuple[Quota, Demand]], key: K) -> list[QuotaBar]:
    """Return the bars of one owner, for each resource. ``owners`` are all of its cluster."""

    def bar(
        label: str,
        deserved_of: Callable[[Quota], float | None],
        used_of: Callable[[Demand], float],
        write: Callable[[float], str],
    ) -> QuotaBar:
        amounts = {it: (deserved_of(quota), used_of(held)) for it, (quota, held) in owners.items()}
        return _draw(label, balances_of(amounts)[key], write)

    return [
        bar("GPUs", lambda quota: quota.gpus, lambda held: held.gpus, _format_number),
        bar("CPU cores", lambda quota: quota.cpu, lambda held: held.cpu, _format_number),
        bar("CPU memory", lambda quota: quota.memory, lambda held: held.memory, format_bytes),
    ]


@dataclass(frozen=True)
class PoolBars:
    """The bars of an owner in a node pool, and whether it may exceed its quota there."""

    name: str
    over_quota: str
    bars: list[QuotaBar]


def pool_bars(
    owner: Project | Department,
    shares_in: Callable[[str], Mapping[int, tuple[Quota, Demand]]],
) -> list[PoolBars]:
    """Return the bars of a project or department in each node pool. ``shares_in`` returns the quota
    and the usage of each owner of its cluster in a pool, by id. Of several pools, only what has a
    quota there is drawn."""
    pools = pool_names(owner.cluster)
    rows = []
    for pool in pools:
        bars = quota_bars(shares_in(pool), owner.pk)
        if len(pools) > 1:
            bars = [bar for bar in bars if bar.segments]
        rows.append(PoolBars(pool, over_quota_text(quota_row(owner, pool)), bars))
    return rows


def over_quota_text(row: ProjectQuotaColumns | DepartmentQuotaColumns) -> str:
    """Say whether more than the quota may be used, up to which limit and with which weight."""
    if not row.over_quota:
        return "No"
    limit = "" if row.gpu_limit is None else f"up to {_format_number(row.gpu_limit)} GPUs"
    weight = row.over_quota_weight
    weight_text = "" if weight in {None, DEFAULT_WEIGHT} else f"weight {weight:g}"
    return ", ".join(filter(None, ["Yes", limit, weight_text]))


def _draw(label: str, balance: Balance, write: Callable[[float], str]) -> QuotaBar:
    if balance.deserved is None:
        return QuotaBar(label, f"{write(balance.used)}, no limit", ())
    in_quota = min(balance.used, balance.deserved)
    scale = max(balance.used, balance.deserved) or 1.0
    parts = (
        ("used", "used of its quota", in_quota),
        ("borrowed", "borrowed", balance.borrowed),
        ("lent", "lent", balance.lent),
    )
    segments: list[Segment] = []
    start = 0.0
    for kind, words, amount in parts:
        width = round(BAR_WIDTH * amount / scale, 2)
        segments.append(Segment(kind, words, write(amount), round(start, 2), width))
        start += width
    text = f"{write(balance.used)} of {write(balance.deserved)} deserved"
    return QuotaBar(label, text, tuple(segments))


def enforcement_sentence(cluster: Cluster) -> str:
    """Say who enforces the quotas of a cluster."""
    capabilities = cluster.capabilities
    if not capabilities.queues:
        return (
            f"Trainyard enforces these quotas on {cluster}: it decides what starts, and takes back "
            "what is over quota when the owner of the quota needs it."
        )
    if capabilities.quotas:
        return (
            f"KAI enforces these quotas on {cluster}, by queues that Trainyard keeps in line "
            "with them."
        )
    return (
        f"Trainyard checks these quotas when a workload is submitted or run again, and refuses it "
        f"where over-quota is off. {cluster} itself does not know them, so nothing is taken back."
    )


def _format_number(value: float) -> str:
    return f"{value:g}"
