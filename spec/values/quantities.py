"""Amounts of memory as people and Kubernetes write them: ``100M``, ``500Mi``, ``1G``."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator

PATTERN = re.compile(r"^([0-9]+(?:\.[0-9]+)?)([kKMGTP]i?)?$")
UNITS = {"": 1}
for power, letter in enumerate("KMGTP", start=1):
    UNITS[letter] = 1000**power
    UNITS[f"{letter}i"] = 1024**power
UNITS |= {"k": 1000, "ki": 1024}
MOST = 2**63 - 1  # bytes


def to_bytes(quantity: str) -> int:
    """Parse a quantity into bytes. ``ValueError`` explains the format.

    Kubernetes' decimal and binary units are accepted. The suffixes ``m``, ``u``, ``n`` and
    exponents, which Kubernetes also reads, make no sense for memory and are refused.
    """
    match = PATTERN.fullmatch(quantity.strip())
    if not match:
        raise ValueError(
            f"{quantity!r} is not an amount; write a number with a unit, like 500M or 2Gi"
        )
    size = int(Decimal(match[1]) * UNITS[match[2] or ""])
    if size > MOST:
        raise ValueError("is more than 8 EiB, the most that Kubernetes can count")
    return size


def format_bytes(size: float) -> str:
    """Bytes in words, in decimal units as in Run:ai's forms: ``1.5 GB``."""
    value = float(size)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            return f"{value:.0f} {unit}" if value >= 100 or unit == "B" else f"{value:.3g} {unit}"
        value /= 1000
    raise AssertionError("the loop ends with TB")


def format_gib(size: float) -> str:
    """Bytes in words, in the unit that nodes are measured in: ``4,657 GiB``."""
    value = size / 1024**3
    return f"{value:,.0f} GiB" if value >= 100 else f"{value:.3g} GiB"


def _check_quantity(quantity: str) -> str:
    if to_bytes(quantity) <= 0:
        raise ValueError("must be more than 0")
    return quantity


Quantity = Annotated[str, AfterValidator(_check_quantity)]
