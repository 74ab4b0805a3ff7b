"""What a search looks for, in bytes as they were printed: letters in either case.

A line matches by what a page shows of it. So where there are colours, control characters or
progress bars that write over themselves, lines are compared as they are shown; everywhere else a
whole block is searched at once.
"""

import re
from collections.abc import Callable, Iterator

from workloads.logs.reading.lines import GRID, next_in, parts
from workloads.logs.text import ESCAPES, shown

LINE = re.compile(rb"[^\n]*\n|[^\n]+")
UNSHOWN = re.compile(rb"%b|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]" % ESCAPES.pattern.encode())
Finder = Callable[[bytes, int], int]


class Needle:
    """``text`` is at least one character, and has no line break."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self._find = _literally(text) if text.isascii() else _letter_by_letter(text)
        self._reach = 4 * len(text)  # bytes that a match may take at most

    def matches(self, block: bytes, base: int, start: int, stop: int) -> Iterator[int]:
        """Of each line that begins from ``start`` to ``stop`` an offset where it matches. Both are
        where lines begin, in a block that begins at ``base``."""
        near = block[start - base : stop - base + self._reach]
        if _is_plain(near):
            return self._as_printed(near.lower(), start, stop, block, base)
        return self._as_shown(near[: stop - start], start)

    def _as_printed(
        self, near: bytes, start: int, stop: int, block: bytes, base: int
    ) -> Iterator[int]:
        at = self._find(near, 0) + start
        while start <= at < stop:
            yield at
            cut = (at // GRID + 1) * GRID  # where the next line may begin without a line break
            line_break = near.find(b"\n", at - start, cut - start)
            end = start + line_break + 1 if line_break >= 0 else next_in(block, base, at + 1)
            at = self._find(near, end - start) + start

    def _as_shown(self, near: bytes, start: int) -> Iterator[int]:
        if self._find(UNSHOWN.sub(b"", near).lower(), 0) < 0:
            return
        for line in LINE.finditer(near):
            offset = start + line.start()
            for part in parts(line[0], offset):
                if self._find(shown(part).encode().lower(), 0) >= 0:
                    yield offset
                offset += len(part)


def _is_plain(block: bytes) -> bool:
    if b"\x1b" in block or b"\x00" in block:
        return False
    return b"\r" not in block or block.count(b"\r") == block.count(b"\r\n")


def _literally(text: str) -> Finder:
    wanted = text.lower().encode()
    return lambda block, start: block.find(wanted, start)


def _letter_by_letter(text: str) -> Finder:
    """Beyond ASCII the two cases of a letter are other bytes, and not always as many."""
    letters = (b"|".join(re.escape(form.encode()) for form in _cases(one)) for one in text)
    pattern = re.compile(b"".join(b"(?:%b)" % forms for forms in letters))

    def find(block: bytes, start: int) -> int:
        match = pattern.search(block, start)
        return match.start() if match else -1

    return find


def _cases(letter: str) -> list[str]:
    return sorted(
        {letter.lower()} if letter.isascii() else {letter, letter.lower(), letter.upper()}
    )
