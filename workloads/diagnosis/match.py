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
    """Return the cause of the failure according to these lines; ``None`` if they do not show it."""
    steps = progress_lines(lines)
    # The training went on after this line, so the errors before it had been handled.
    handled_until = steps[-HANDLED_AFTER] if len(steps) >= HANDLED_AFTER else -1
    matches = _drop_handled([it for it in _find_matches(lines) if it.number > handled_until])
    if not matches:
        return None
    heaviest = max(it.weight for it in matches)
    return _decisive_match([it for it in matches if it.weight == heaviest], _root_source(lines))


def _find_matches(lines: Sequence[str]) -> Iterator[Match]:
    candidates = list(candidate_lines(lines))
    text = "\n".join(candidate.text for candidate in candidates)
    # One search of the whole text for each class leaves few classes to try on each line.
    likely = [failure for failure in CLASSES if failure.pattern.search(text)]
    for candidate in candidates:
        failure = _class_of(candidate, likely)
        if failure:
            yield Match(
                failure,
                candidate.number,
                failure.weight_of(candidate.text),
                candidate.source,
                candidate.block,
                candidate.in_thread,
            )


def _class_of(candidate: CandidateLine, likely: Sequence[FailureClass]) -> FailureClass | None:
    """Return the class of a line, if any. A line that ends a traceback is at least a plain
    exception."""
    text = candidate.text
    frames = candidate.frames
    if frames:
        for failure in CLASSES:
            if failure.is_within(frames, text):
                return failure
    for failure in likely:
        if failure.pattern.search(text):
            return failure
    is_raised = candidate.block >= 0 and RAISED.match(text)
    return BY_ID[EXCEPTION] if is_raised else None


def _drop_handled(matches: list[Match]) -> list[Match]:
    """Return the matches without exceptions that were handled: a process that raised another one
    afterwards had handled them.

    An exception that reports lost peers does not count as another one, since several processes may
    print into one log. Exceptions of other threads count only if the main thread raised none: they
    often follow from its end.
    """
    exceptions = [it for it in matches if it.block >= 0 and it.weight > Weight.SYMPTOM]
    main_sources = {it.source for it in exceptions if not it.in_thread}
    last_blocks: dict[str, int] = {}
    for match in exceptions:
        if not match.in_thread or match.source not in main_sources:
            last_blocks[match.source] = match.block
    unhandled = []
    for match in matches:
        is_last = match.block < 0 or last_blocks.get(match.source, -1) <= match.block
        if is_last and (not match.in_thread or match.source not in main_sources):
            unhandled.append(match)
    return unhandled


def _decisive_match(matches: list[Match], root: str) -> Match:
    """Return the decisive one of several matches with the same weight.

    It is a match of the rank that the launcher names, or else of the process that printed the first
    match. If the last match of that process ends a traceback, it decides. Otherwise the first match
    of the same class does, or the last exception of the traceback to which that one belongs.
    """
    sources = [it.source for it in matches]
    source = root if root and root in sources else sources[0]
    of_source = [it for it in matches if it.source == source]
    last = of_source[-1]
    if last.block >= 0:
        return last
    same_class = [it for it in of_source if it.failure is last.failure]
    block = same_class[0].block
    if block < 0:
        return same_class[0]
    # The message of an exception may go on in lines of its own.
    return [it for it in same_class if it.block == block][-1]


def _root_source(lines: Sequence[str]) -> str:
    summary = ROOT.search("\n".join(line[:LONGEST] for line in lines))
    return f"[rank{summary[1]}]:" if summary else ""
