"""Judge a gang by the quota of the queue of Kueue that starts it. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from engines.local_queues import CPU, GPU, MEMORY, LocalQueue, ResourceQuota
from spec.parts.compute import Compute
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind
from spec.values.quantities import format_gib, to_bytes
from spec.workload import WorkloadSpec

LESS = "Ask for less or choose another queue, or have the quota raised."
SHOWN_FIRST = (GPU, CPU, MEMORY)
Requests = dict[str, float]  # amounts by resource


def cause_beyond_quota(spec: WorkloadSpec, queue: LocalQueue) -> Cause | None:
    """The cause why Kueue never starts a gang: it requests more than its ClusterQueue may ever
    have, with what that may borrow. ``None`` if it may start."""
    roles = _requests_by_role(spec)
    total = _add_up(roles)
    for quota in queue.quotas or ():
        requested = total.get(quota.resource, 0)
        if quota.most is not None and requested > quota.most:
            return _cause(queue, quota.resource, requested, quota.most)
        largest = max(role.get(quota.resource, 0) for role in roles)
        if quota.most_of_role is not None and largest > quota.most_of_role:
            return _cause(queue, quota.resource, largest, quota.most_of_role)
    return None


def workers_within_maximum(spec: WorkloadSpec, queue: LocalQueue) -> int:
    """The number of the gang's workers that its ClusterQueue may have at most."""

    def is_beyond_quota(workers: int) -> bool:
        smaller = spec.model_copy(update={"num_workers": workers})
        return cause_beyond_quota(smaller, queue) is not None

    return bisect_left(range(1, spec.num_workers + 1), True, key=is_beyond_quota)


def queue_note(spec: WorkloadSpec, queue: LocalQueue) -> str:
    """Sentences that say which queue decides when a gang starts, and what quota it has."""
    return " ".join(_note_sentences(spec, queue))


def _note_sentences(spec: WorkloadSpec, queue: LocalQueue) -> Iterator[str]:
    yield f"Kueue's queue {queue.name} decides when it starts."
    if queue.why_inactive:
        yield f"It starts nothing now: {queue.why_inactive.rstrip('.')}."
    if queue.quotas is None:
        return
    quotas = {quota.resource: quota for quota in queue.quotas}
    requested = _add_up(_requests_by_role(spec))
    known = [quotas[resource] for resource in _in_order(requested) if resource in quotas]
    if known:
        amounts = ", ".join(map(_quota_text, known))
        yield f"The quota of its ClusterQueue {queue.cluster_queue}: {amounts}."
    if missing := [_name(resource) for resource in _in_order(requested) if resource not in quotas]:
        names = ", ".join(missing)
        yield f"There is none for {names}, without which Kueue normally starts no pod."


def _requests_by_role(spec: WorkloadSpec) -> list[Requests]:
    """What all pods of each role request together, in cores, bytes and devices."""
    return [_requests(role.replica.compute, role.count) for role in spec.gang_roles]


def _requests(compute: Compute, pods: int) -> Requests:
    """What the pods of a role request. Parts of a GPU are no resource of Kubernetes."""
    requests: Requests = {
        GPU: 0 if compute.shares_gpu else compute.gpu_devices_request,
        CPU: compute.cpu_core_request,
        MEMORY: compute.memory_bytes,
    }
    for extended in compute.extended_resources:
        requests[extended.resource] = to_bytes(extended.quantity)
    return {resource: amount * pods for resource, amount in requests.items() if amount}


def _add_up(roles: Iterable[Requests]) -> Requests:
    total: Requests = {}
    for role in roles:
        for resource, amount in role.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def _in_order(requested: Mapping[str, float]) -> list[str]:
    known = [resource for resource in SHOWN_FIRST if resource in requested]
    return known + sorted(requested.keys() - set(SHOWN_FIRST))


def _cause(queue: LocalQueue, resource: str, requested: float, most: float) -> Cause:
    title = (
        f"More than queue {queue.name} can ever give: {_amount_text(resource, requested)} "
        f"requested, {_amount_text(resource, most)} at most"
    )
    return Cause(CauseKind.QUOTA, title, LESS, precise_reason=Reason.NEVER_FITS)


def _quota_text(quota: ResourceQuota) -> str:
    text = _amount_text(quota.resource, quota.nominal)
    if quota.most is None:
        return f"{text} and what it may borrow"
    if quota.most > quota.nominal:
        return f"{text}, {_amount_text(quota.resource, quota.most)} with what it may borrow"
    return text


def _amount_text(resource: str, amount: float) -> str:
    if resource == MEMORY:
        return f"{format_gib(amount)} of memory"
    if resource == GPU:
        return f"{amount:g} GPU{'' if amount == 1 else 's'}"
    return f"{amount:g} {_name(resource)}"


def _name(resource: str) -> str:
    return {CPU: "CPU cores", GPU: "GPUs", MEMORY: "memory"}.get(resource, resource)
