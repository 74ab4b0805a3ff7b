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


def meters(quota: Quota, usage: Demand) -> list[Meter]:
    return [
        _meter("GPUs", usage.gpus, quota.gpus, _format_number),
        _meter("CPU cores", usage.cpu, quota.cpu, _format_number),
        _meter("CPU memory", usage.memory, quota.memory, format_bytes),
    ]


def _format_number(value: float) -> str:
    return f"{value:g}"


def _meter(
    label: str, used: float, quota: float | None, format_amount: Callable[[float], str]
) -> Meter:
    if quota is None:
        return Meter(label, used, None, f"{format_amount(used)}, no limit")
    tone = "warning" if used > quota + 1e-6 else ""
    return Meter(label, used, quota, f"{format_amount(used)} of {format_amount(quota)}", tone)
