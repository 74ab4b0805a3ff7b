"""Find the failure class that the last lines of a log show, and the line that decides it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workloads.diagnosis.base import FailureClass, Weight
from workloads.diagnosis.classes import BY_ID, CLASSES
from workloads.diagnosis.reading import (
    LONGEST,
    RAISED,
    CandidateLine,
    candidate_lines,
    progress_lines,
)

HANDLED_AFTER = 3  # after this many lines of progress, an error was evidently handled
EXCEPTION = "exception"
ROOT = re.compile(r"Root Cause \(first observed failure\):.{0,200}?\brank\s*: (\d+)", re.DOTALL)


@dataclass(frozen=True)
class Match:
    """A line and its failure class. ``number`` is the line's index in what was read, ``source`` the
    process that printed it, ``block`` the traceback that it ends, or -1, and ``in_thread`` tells
    whether that is one of a thread beside the main one."""

    failure: FailureClass
    number: int
    weight: Weight
    source: str = ""
    block: int = -1
    in_thread: bool = False


def find_match(lines: Sequence[str]) -> Match | None:
    """The cause of the failure according to these lines; ``None`` if they do not show it."""
    steps = progress_lines(lines)
    dealt_with = steps[-HANDLED_AFTER] if len(steps) >= HANDLED_AFTER else -1
    matches = _drop_handled([one for one in _find_matches(lines) if one.number > dealt_with])
    if not matches:
        return None
    heaviest = max(one.weight for one in matches)
    return _decisive_match([one for one in matches if one.weight == heaviest], _root_source(lines))


def _find_matches(lines: Sequence[str]) -> Iterator[Match]:
    said = list(candidate_lines(lines))
    text = "\n".join(one.text for one in said)
    likely = [one for one in CLASSES if one.pattern.search(text)]
    for utterance in said:
        failure = _class_of(utterance, likely)
        if failure:
            weight = failure.weight_of(utterance.text)
            yield Match(
                failure,
                utterance.number,
                weight,
                utterance.source,
                utterance.block,
                utterance.in_thread,
            )


def _class_of(utterance: CandidateLine, likely: Sequence[FailureClass]) -> FailureClass | None:
    """The class of a line, if any. A line that ends a traceback is at least a plain exception."""
    text = utterance.text
    frames = utterance.frames
    failure = next((one for one in CLASSES if frames and one.is_within(frames, text)), None)
    failure = failure or next((one for one in likely if one.pattern.search(text)), None)
    is_raised = utterance.block >= 0 and RAISED.match(text)
    return failure or (BY_ID[EXCEPTION] if is_raised else None)


def _drop_handled(matches: list[Match]) -> list[Match]:
    """Matches without exceptions that were handled: a process that raised another one afterwards
    had handled them. One that reports lost peers does not count as another, since several processes
    may print into one log. Exceptions of other threads only count without one of the main thread,
    whose end they often follow from."""
    others = [one for one in matches if one.block >= 0 and one.weight > Weight.SYMPTOM]
    of_main = {one.source for one in others if not one.in_thread}
    last: dict[str, int] = {}
    for one in others:
        if not one.in_thread or one.source not in of_main:
            last[one.source] = one.block
    return [
        one
        for one in matches
        if one.block < 0 or last.get(one.source, -1) <= one.block
        if not one.in_thread or one.source not in of_main
    ]


def _decisive_match(matches: list[Match], root: str) -> Match:
    """The decisive one of several matches with the same weight.

    It is one of the rank that the launcher names, or else of the process that printed the first,
    and of the class of that process's last match. If that ends a traceback, it is that one; else
    the first of its class, or the last exception of the traceback in which the first is.
    """
    sources = [one.source for one in matches]
    source = root if root and root in sources else sources[0]
    own = [one for one in matches if one.source == source]
    alike = [one for one in own if one.failure is own[-1].failure]
    if own[-1].block >= 0:
        return own[-1]
    block = alike[0].block  # of an exception whose message goes on in lines of its own
    return [one for one in alike if one.block == block][-1 if block >= 0 else 0]


def _root_source(lines: Sequence[str]) -> str:
    summary = ROOT.search("\n".join(line[:LONGEST] for line in lines))
    return f"[rank{summary[1]}]:" if summary else ""
