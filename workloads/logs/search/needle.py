"""Find a text in printed bytes, ignoring case.

A line matches by what the page shows of it. If that equals what was printed, a whole block is
searched at once. If there are colors, control characters or progress bars that overwrite
themselves, all lines of a block are first converted to what a page shows. That is expensive, so
blocks are skipped that do not match even with all characters of color sequences removed.

A long line is shown in parts. A match that goes on into the next part is one of the part where it
begins.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import pairwise

from workloads.logs.reading.lines import GRID, next_line_start_in_block
from workloads.logs.text import ESCAPES

BACK = re.compile(rb"\r(?!\n)")
BREAK = re.compile(rb"\n")
ESCAPE = re.compile(ESCAPES.pattern.encode())
LOWER = bytes(range(256)).lower()
UNSHOWN = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
PARAMETERS = b"0123456789;:"  # in sequences that set colors, such as ESC [ 1 ; 31 m
COLORING = UNSHOWN + b"\r[mM" + PARAMETERS  # both cases: it is removed before letters are lowered
MOST_USELESS = 8  # blocks skipped in vain until skipping is given up
Finder = Callable[[bytes, int], int]


class Needle:
    """Searches for ``text``, which is not empty and has no line break."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self._find = _literal_finder(text) if text.isascii() else _letter_finder(text)
        self._reach = 4 * len(text)  # longest match in bytes
        self._shortest = sum(min(map(len, _encoded_cases(letter))) for letter in text)
        rest = self.text.encode().translate(None, COLORING)
        self._rest = rest if text.isascii() else b""
        self._passed = self._tried = 0  # blocks that passed the cheap test, of those tested

    def count(self, block: bytes, base: int, start: int, stop: int) -> int:
        """The number of matching lines that start between ``start`` and ``stop``."""
        lines = block[start - base : stop - base]
        if not lines.endswith(b"\n") or _cut_offsets(lines, start):
            return sum(1 for _ in self.matches(block, base, start, stop))
        if b"\x1b" in lines:
            text = b"" if self._cannot_match(lines) else _shown_text(lines)
        else:
            text = lines.translate(LOWER, UNSHOWN)
            text = (
                _shown_text(lines) if len(text) != len(lines) or _overwrites_itself(lines) else text
            )
        if self._find(text, 0) < 0:
            return 0
        return sum([self._find(line, 0) >= 0 for line in text.split(b"\n")])

    def _cannot_match(self, lines: bytes) -> bool:
        """A cheap test whether no line can match. Characters of color sequences are removed from
        both the lines and the text, so no match is missed, unless a sequence has other characters.
        """
        if not self._rest or self._passed > max(MOST_USELESS, self._tried // 2):
            return False
        self._tried += 1
        if self._rest in lines.translate(LOWER, COLORING):
            self._passed += 1
            return False
        bare = lines.translate(None, PARAMETERS)
        return bare.count(b"\x1b[m") == bare.count(b"\x1b")

    def matches(self, block: bytes, base: int, start: int, stop: int) -> Iterator[int]:
        """For each matching line that starts between ``start`` and ``stop``, an offset where it
        matches. Both are starts of lines, in a block at ``base``."""
        near = block[start - base : stop - base + self._reach]
        if b"\x1b" not in near and not _overwrites_itself(near):
            text = near.translate(LOWER, UNSHOWN)
            if len(text) == len(near):
                return self._as_printed(text, start, stop, block, base)
        return self._as_shown(block[start - base : stop - base + GRID], start, stop)

    def _as_printed(
        self, near: bytes, start: int, stop: int, block: bytes, base: int
    ) -> Iterator[int]:
        at = self._find(near, 0) + start
        while start <= at < stop:
            yield at
            cut = (at // GRID + 1) * GRID  # where the next part may start without a line break
            line_break = near.find(b"\n", at - start, cut - start)
            end = (
                start + line_break + 1
                if line_break >= 0
                else next_line_start_in_block(block, base, at + 1)
            )
            at = self._find(near, end - start) + start

    def _as_shown(self, near: bytes, start: int, stop: int) -> Iterator[int]:
        cuts = _cut_offsets(near, start)
        starts = sorted({0, *cuts, *(one.end() for one in BREAK.finditer(near))})
        text = _shown_text(
            b"\n".join(near[one:end] for one, end in pairwise([0, *cuts, len(near)]))
        )
        text = self._with_continuations(text, near, starts, cuts)
        at = self._find(text, 0)
        if at < 0:
            return
        breaks = [one.start() for one in BREAK.finditer(text)]
        while at >= 0:
            number = bisect_left(breaks, at)
            if start + starts[number] >= stop:
                return
            yield start + starts[number]
            at = self._find(text, breaks[number]) if number < len(breaks) else -1

    def _with_continuations(
        self, text: bytes, near: bytes, starts: list[int], cuts: list[int]
    ) -> bytes:
        """Add to each shown part what a match that begins in it may need of the next part: less
        than a whole match. A part that overwrites itself continues nothing."""
        if not cuts:
            return text
        parts = text.split(b"\n")
        for cut in cuts:
            number = starts.index(cut)
            following = near[cut : near.find(b"\n", cut) + 1 or len(near)]
            if not _overwrites_itself(following):
                parts[number - 1] += parts[number][: self._shortest - 1]
        return b"\n".join(parts)


def _cut_offsets(lines: bytes, start: int) -> list[int]:
    """Where long lines are cut, see ``reading.lines``."""
    first = GRID - start % GRID
    return [
        cut
        for cut in range(first, len(lines), GRID)
        if cut >= GRID and lines.find(b"\n", cut - GRID, cut) < 0
    ]


def _overwrites_itself(lines: bytes) -> bool:
    """Whether any line overwrites itself."""
    return b"\r" in lines and BACK.search(lines) is not None


def _shown_text(lines: bytes) -> bytes:
    """Like ``text.shown``, for many lines at once, in lower case."""
    text = b"".join(ESCAPE.split(lines))
    if _overwrites_itself(text):
        text = b"\n".join(line.rstrip(b"\r").rpartition(b"\r")[2] for line in text.split(b"\n"))
    return text.translate(LOWER, UNSHOWN + b"\r")


def _literal_finder(text: str) -> Finder:
    wanted = text.lower().encode()
    return lambda block, start: block.find(wanted, start)


def _letter_finder(text: str) -> Finder:
    """A case-insensitive search beyond ASCII, where the cases of a letter differ in bytes, and in
    number of bytes."""
    letters = (b"|".join(map(re.escape, _encoded_cases(one))) for one in text)
    pattern = re.compile(b"".join(b"(?:%b)" % forms for forms in letters))

    def find(block: bytes, start: int) -> int:
        match = pattern.search(block, start)
        return match.start() if match else -1

    return find


def _encoded_cases(letter: str) -> list[bytes]:
    cases = {letter.lower()} if letter.isascii() else {letter, letter.lower(), letter.upper()}
    return [case.encode() for case in sorted(cases)]
