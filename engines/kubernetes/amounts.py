"""Read amounts of resources as API servers write them."""

from decimal import Decimal
from functools import lru_cache

from spec.values.quantities import UNITS

SMALL = {"m": 10**3, "u": 10**6, "n": 10**9}


@lru_cache(maxsize=4096)
def parse_amount(text: str) -> Decimal:
    """Parse an amount: ``1900m``, ``8046488Ki``, ``2``, ``1e3``."""
    for suffix, factor in sorted(UNITS.items(), key=lambda unit: -len(unit[0])):
        if suffix and text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * factor
    for suffix, parts in SMALL.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) / parts
    return Decimal(text)
