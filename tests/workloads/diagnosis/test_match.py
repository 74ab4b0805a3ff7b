"""The class of a failure and its decisive line, over a corpus of what programs really print."""

import time
from functools import cache

import pytest

from tests.workloads.diagnosis.tails import HELD_OUT, NOTHING, ORDINARY, Tail, tails
from workloads.diagnosis.base import Fault
from workloads.diagnosis.classes import BY_ID, CLASSES
from workloads.diagnosis.match import Match, find_match

TAILS = tails()


@cache
def decide(number: int) -> Match | None:
    return find_match(TAILS[number].lines)


def answer(tail: Tail) -> str:
    decision = decide(TAILS.index(tail))
    return decision.failure.id if decision else NOTHING


PARTS = {
    "all": TAILS,
    "held out": [tail for tail in TAILS if tail.file == HELD_OUT],
    "produced": [tail for tail in TAILS if tail.is_produced],
    "ordinary": [tail for tail in TAILS if tail.file == ORDINARY],
}


@pytest.mark.parametrize("part", PARTS)
def test_tails_are_classed_right_and_hardly_ever_wrong(part: str) -> None:
    chosen = PARTS[part]
    misses = [(answer(tail), tail) for tail in chosen if answer(tail) not in tail.classes]
    listing = "\n".join(f"{tail.name}: read as {got}" for got, tail in misses)
    wrong = [got for got, _ in misses if got != NOTHING]
    assert len(misses) <= 0.05 * len(chosen), listing
    assert len(wrong) <= 0.01 * len(chosen), listing


def test_an_ordinary_line_by_itself_says_nothing() -> None:
    """In its tail, progress after it could hide that it matches."""
    lines = [line for tail in PARTS["ordinary"] if not tail.decisive for line in tail.lines]
    decisions = [(line, find_match([line])) for line in lines]
    assert len(lines) >= 70
    assert not [(line, one.failure.id) for line, one in decisions if one]


def test_the_decisive_line_is_one_that_says_why() -> None:
    elsewhere = []
    for number, tail in enumerate(TAILS):
        decision = decide(number)
        is_right = decision is not None and decision.failure.id in tail.classes
        if decision and is_right and decision.number not in tail.decisive:
            elsewhere.append(f"{tail.name}: {tail.lines[decision.number]}")
    assert not elsewhere


def test_the_corpus_is_large_enough_to_say_so() -> None:
    assert len(PARTS["produced"]) >= 120, "printed by programs that ran, not written"
    assert sum(NOTHING in tail.classes for tail in TAILS) >= 15
    assert sum(tail.file == HELD_OUT for tail in TAILS) >= 40
    assert not [tail.name for tail in TAILS if not tail.decisive and NOTHING not in tail.classes]
    assert {name for tail in TAILS for name in tail.classes} <= {*BY_ID, NOTHING}


def test_every_class_that_reads_logs_has_a_tail() -> None:
    shown = {name for tail in TAILS for name in tail.classes}
    assert not [one.id for one in CLASSES if one.line_patterns and one.id not in shown]


def test_classes_are_told_apart_and_say_what_to_do() -> None:
    assert len(CLASSES) >= 40
    assert len(BY_ID) == len(CLASSES)
    assert len({one.label for one in CLASSES}) == len(CLASSES)
    assert {one.fault for one in CLASSES} == set(Fault)
    for one in CLASSES:
        assert one.sentence.endswith(".")
        assert one.repair.endswith(".")
        assert len(one.label) <= 32, "a chip in a row of the table"


@pytest.mark.parametrize("text", ["a" * 1_000_000, "error " * 200_000, "Traceback " * 50_000])
def test_lines_without_end_take_no_time(text: str) -> None:
    start = time.process_time()
    find_match([text] * 20)
    assert time.process_time() - start < 2


def test_a_retry_does_not_hide_the_failure_after_it() -> None:
    lines = ["connection refused, retrying in 2 s", "ConnectionRefusedError: [Errno 111] refused"]
    decision = find_match(lines)
    assert decision
    assert (decision.failure.id, decision.number) == ("connection-refused", 1)


def test_of_ranks_in_one_log_the_one_that_the_launcher_names_decides() -> None:
    lines = [
        "[rank0]: ValueError: the second to fail",
        "[rank3]: ValueError: the first to fail",
        "Root Cause (first observed failure):",
        "[0]:",
        "  rank      : 3 (local_rank: 3)",
    ]
    decision = find_match(lines)
    assert decision
    assert decision.number == 1
