"""Names of workloads, and names that leave us."""

import re
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.names import check_name, object_name


@pytest.mark.parametrize("name", ["a", "mnist", "a-1", "x" * 54])
def test_dns_labels_with_room_for_a_rank_are_fine(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "required"),
        ("A", "lower-case"),
        ("1a", "start with a letter"),
        ("a-", "end with"),
        ("a_b", "hyphens"),
        ("a b", "hyphens"),
        ("a\n", "hyphens"),
        ("ä", "lower-case"),
        ("$(reboot)", "lower-case"),
        ("x" * 55, "leave room"),
    ],
)
def test_a_bad_name_of_a_workload_says_why(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_name(name)


def test_more_workers_leave_less_room() -> None:
    assert check_name("x" * 53, workers=100)
    with pytest.raises(ValueError, match="leave room"):
        check_name("x" * 53, workers=101)


@given(st.text(max_size=200), st.uuids())
def test_object_names_are_dns_labels(name: str, uid: UUID) -> None:
    made = object_name(name, uid)
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", made)
    assert len(made) <= 63


def test_object_names_tell_two_of_one_name_apart() -> None:
    assert object_name("train", uuid4()) != object_name("train", uuid4())
