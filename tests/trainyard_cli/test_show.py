"""Numbers as the tables of the command line have them."""

import pytest

from trainyard_cli.show import format_memory


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1_500_000_000, "1.5 GB"),
        (999_700_000, "1000 MB"),
        (4_657 * 1000**4, "4657 TB"),
        (None, "–"),
    ],
)
def test_no_amount_is_shown_with_an_exponent(size: float | None, text: str) -> None:
    assert format_memory(size) == text
