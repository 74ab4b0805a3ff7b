"""Lists of nodes as Slurm writes them; the answers are those of scontrol 22.05."""

import pytest

from engines.local.batch.hostlist import (
    MOST_NAMES,
    compress_counts,
    compress_hostlist,
    expand_hostlist,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("a[1-3,07],b", ["a1", "a2", "a3", "a07", "b"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("127.0.0.[1-2]", ["127.0.0.1", "127.0.0.2"]),
        ("", []),
        ("n[-]", ["n[-]"]),
        ("n[1,,2]", ["n[1,,2]"]),
    ],
)
def test_a_list_has_these_names(text: str, names: list[str]) -> None:
    assert expand_hostlist(text) == names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n1"], "n1"),
        (["n1", "n2", "n3"], "n[1-3]"),
        (["n1", "n3", "login"], "n[1,3],login"),
        (["n08", "n09", "n10"], "n[08-10]"),
        (["127.0.0.9", "127.0.0.10"], "127.0.0.[9-10]"),
        (["gpu", "gpu1"], "gpu,gpu1"),
    ],
)
def test_names_become_a_list(names: list[str], text: str) -> None:
    assert compress_hostlist(names) == text
    assert expand_hostlist(text) == names


def test_equal_counts_are_written_once() -> None:
    assert compress_counts([2, 2, 1]) == "2(x2),1"


def test_a_range_without_an_end_in_sight_is_cut() -> None:
    assert len(expand_hostlist("n[1-999999999]")) == MOST_NAMES
