"""Usage against quota, as bars on pages."""

from collections.abc import Callable
from dataclasses import dataclass

from projects.quotas import Demand, Quota
from spec.values.quantities import format_bytes


@dataclass(frozen=True)
class Meter:
    """Values for ``components/meter.html``. Without a quota there is no bar."""

    label: str
    used: float
    total: float | None
    text: str
    tone: str = ""


def meters(quota: Quota, held: Demand) -> list[Meter]:
    return [
        _meter("GPUs", held.gpus, quota.gpus, _format_number),
        _meter("CPU cores", held.cpu, quota.cpu, _format_number),
        _meter("CPU memory", held.memory, quota.memory, format_bytes),
    ]


def _format_number(value: float) -> str:
    return f"{value:g}"


def _meter(label: str, used: float, quota: float | None, write: Callable[[float], str]) -> Meter:
    if quota is None:
        return Meter(label, used, None, f"{write(used)}, no limit")
    tone = "warning" if used > quota + 1e-6 else ""
    return Meter(label, used, quota, f"{write(used)} of {write(quota)}", tone)
