"""Add up what pods request, from the API server's quantities."""

from decimal import Decimal
from functools import lru_cache

from engines.base import Manifest
from engines.kubernetes.jobs import GPU
from engines.nodes import Allocation
from spec.values.quantities import UNITS

SMALL = {"m": 10**3, "u": 10**6, "n": 10**9}


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


@lru_cache(maxsize=4096)
def parse_amount(text: str) -> Decimal:
    """Parse a quantity of an API server: ``1900m``, ``8046488Ki``, ``2``, ``1e3``."""
    for suffix, factor in sorted(UNITS.items(), key=lambda unit: -len(unit[0])):
        if suffix and text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * factor
    for suffix, parts in SMALL.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) / parts
    return Decimal(text)
