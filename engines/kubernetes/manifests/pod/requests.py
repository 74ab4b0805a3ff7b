"""Add up what pods request, from the API server's quantities."""

from collections import Counter
from decimal import Decimal

from engines.base import Manifest
from engines.kubernetes.amounts import parse_amount
from engines.kubernetes.jobs import GPU
from engines.nodes import Allocation


def pod_requests(pod: Manifest) -> Allocation:
    """A pod's requests as the scheduler counts them: all containers together, or the largest init
    container, if that is more. Sidecars run alongside whatever follows them."""
    spec = pod["spec"]
    beside: list[Allocation] = []
    most = Allocation(0, 0, 0)
    for container in spec.get("initContainers") or ():
        own = _requests(container)
        most = _maximum(most, add_up([*beside, own]))
        if container.get("restartPolicy") == "Always":
            beside.append(own)
    together = add_up([*beside, *map(_requests, spec["containers"])])
    together = _maximum(together, most)
    notes = pod["metadata"].get("annotations") or {}
    parts = [together, _amounts(spec.get("overhead") or {}), Allocation(0, 0, _gpu_portion(notes))]
    return add_up(parts)


def extended_requests(pod: Manifest) -> dict[str, int]:
    """A pod's requests of other extended resources than GPUs, such as ``example.com/fpga``. The
    scheduler counts them like its other requests, except that sidecars are not added here."""
    spec = pod["spec"]
    together: Counter[str] = Counter()
    for container in spec["containers"]:
        together.update(_extended_amounts(container))
    for container in spec.get("initContainers") or ():
        together |= _extended_amounts(container)
    return dict(together)


def _extended_amounts(container: Manifest) -> Counter[str]:
    """Amounts are whole numbers."""
    requests = container.get("resources", {}).get("requests") or {}
    return Counter(
        {name: int(parse_amount(text)) for name, text in requests.items() if _is_extended(name)}
    )


def _is_extended(name: str) -> bool:
    return "/" in name and name != GPU


def quota_amount(pod: Manifest, name: str) -> Decimal:
    """What a pod counts for in a ResourceQuota, by its name of a resource: ``pods``,
    ``requests.cpu``, ``limits.memory``, or ``cpu``, which means the requests."""
    if name in {"pods", "count/pods"}:
        return Decimal(1)
    limits = name.startswith("limits.")
    part = "limits" if limits else "requests"
    resource = name.removeprefix(f"{part}.")

    def amount(container: Manifest) -> Decimal:
        amounts = container.get("resources", {}).get(part) or {}
        return parse_amount(amounts.get(resource, "0"))

    spec = pod["spec"]
    first = [amount(container) for container in spec.get("initContainers") or ()]
    together = sum(map(amount, spec.get("containers") or ()), Decimal(0))
    return max([together, *first])


def _maximum(one: Allocation, other: Allocation) -> Allocation:
    return Allocation(
        max(one.cpu, other.cpu), max(one.memory, other.memory), max(one.gpus, other.gpus)
    )


def _requests(container: Manifest) -> Allocation:
    return _amounts(container.get("resources", {}).get("requests") or {})


def _amounts(amounts: dict[str, str]) -> Allocation:
    return Allocation(
        cpu=float(parse_amount(amounts.get("cpu", "0"))),
        memory=int(parse_amount(amounts.get("memory", "0"))),
        gpus=float(parse_amount(amounts.get(GPU, "0"))),
    )


def _gpu_portion(annotations: dict[str, str]) -> float:
    """Fractions of GPUs, which KAI assigns by annotations."""
    try:
        devices = int(annotations.get("gpu-fraction-num-devices", "1"))
        return float(annotations.get("gpu-fraction", "0")) * devices
    except ValueError:
        return 0.0


def add_up(parts: list[Allocation]) -> Allocation:
    return Allocation(
        cpu=round(sum(part.cpu for part in parts), 6),
        memory=sum(part.memory for part in parts),
        gpus=sum(part.gpus for part in parts),
    )
