"""Count each workload in the quota of the node pool that its nodes are in."""

from collections import Counter, defaultdict
from uuid import UUID

from clusters.models import Cluster
from workloads.models import Rank, Workload


def settle_pools(cluster: Cluster) -> None:
    """Move workloads that run in another node pool than they count in to the quota of that pool.
    One with nodes in several pools counts in the one with most of its ranks.

    Where the cluster's queues enforce quotas, a workload counts in the pool of its queue. Without a
    queue there are no other pools than the default one.
    """
    capabilities = cluster.capabilities
    if capabilities.quotas or not capabilities.queues or not cluster.pools.exists():
        return
    pools = dict(cluster.nodes.values_list("name", "pool"))
    occupying = Workload.objects.occupying().filter(cluster=cluster)
    ranks = Rank.objects.filter(workload__in=occupying).exclude(node="").order_by("rank")
    ranks_by_pool: dict[UUID, Counter[int | None]] = defaultdict(Counter)
    counted_in: dict[UUID, int | None] = {}
    for workload, pool, node in ranks.values_list("workload", "workload__pool", "node"):
        if node in pools:
            ranks_by_pool[workload][pools[node]] += 1
            counted_in[workload] = pool
    moved: dict[int | None, list[UUID]] = defaultdict(list)
    for workload, counter in ranks_by_pool.items():
        ((most, _),) = counter.most_common(1)
        if most != counted_in[workload]:
            moved[most].append(workload)
    for target, workloads in moved.items():
        Workload.objects.filter(pk__in=workloads).update(pool=target)
