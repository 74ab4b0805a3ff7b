"""Amounts of memory, written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.quantities import UNITS, format_bytes, format_gib, to_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100M", 100_000_000),
        ("500Mi", 500 * 1024**2),
        ("1G", 1000**3),
        ("1.5Gi", 1_610_612_736),
        ("1024", 1024),
        (" 2k ", 2000),
        ("0.1G", 100_000_000),
    ],
)
def test_amounts_are_read_as_kubernetes_reads_them(text: str, expected: int) -> None:
    assert to_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "lots", "-1G", "1GB", "1 G", "1e3", "1m", "G", "1..2G", "١G"])
def test_a_bad_amount_of_memory_says_what_one_looks_like(text: str) -> None:
    with pytest.raises(ValueError, match="500M or 2Gi"):
        to_bytes(text)


@pytest.mark.parametrize("text", ["9" * 400, "9300P", "8192Pi"])
def test_more_memory_than_can_be_counted_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="more than 8 EiB"):
        to_bytes(text)


@given(st.integers(0, 8000), st.sampled_from(sorted(UNITS)))
def test_whole_amounts_are_exact(number: int, unit: str) -> None:
    assert to_bytes(f"{number}{unit}") == number * UNITS[unit]


@given(st.integers(1, 10**15))
def test_a_readable_amount_is_near_the_real_one(size: int) -> None:
    number, unit = format_bytes(size).split()
    powers = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
    assert abs(float(number) * 1000 ** powers[unit] - size) <= size * 0.01


@pytest.mark.parametrize(
    ("gib", "text"),
    [(0.5, "0.5 GiB"), (23.44, "23.4 GiB"), (900, "900 GiB"), (4656.6, "4,657 GiB")],
)
def test_no_amount_is_shown_with_an_exponent(gib: float, text: str) -> None:
    assert format_gib(gib * 1024**3) == text
