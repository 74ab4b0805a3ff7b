"""Render output as plain text, or as HTML with its colors as CSS classes.

Of terminal sequences only colors and weights (SGR) are rendered; the rest is dropped. A line is
shown in its final state, because progress bars overwrite themselves. Marked text may span colors.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# Control sequences, strings such as titles and links, character sets, and all others.
PATTERN = (
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]+[0-~]|\x1b[0-~]"
)
ESCAPES = re.compile(PATTERN)
ESCAPE_BYTES = re.compile(PATTERN.encode())
TOKENS = re.compile(rf"(\r|{PATTERN})")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
SGR = re.compile(r"\x1b\[([\d;:]*)m")

BASIC = 16  # colors with a class of their own
ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
OFF = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"inverse"}, 29: {"strike"}}
# The basic colors as in xterm. Any other color is shown as the nearest of these.
XTERM = (
    *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0)),
    *((0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)),
    *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
    *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
)


@dataclass
class Style:
    """The style set by the sequences so far. Colors are 0 to 15, or ``None``."""

    on: set[str] = field(default_factory=set)
    colours: dict[str, int] = field(default_factory=dict)

    @property
    def classes(self) -> str:
        names = [f"sgr-{name}" for name in sorted(self.on)]
        return " ".join(names + [f"sgr-{g}-{n}" for g, n in sorted(self.colours.items())])

    def apply(self, parameters: str) -> None:
        codes = iter(_codes(parameters))
        for code in codes:
            ground = "bg" if code >= 100 or 40 <= code < 50 else "fg"
            of = code % 10
            if code == 0:
                self.on = set()
                self.colours = {}
            elif code in ON:
                self.on.add(ON[code])
            elif code in OFF:
                self.on -= OFF[code]
            elif code in (38, 48):
                self._set(ground, _extended_colour(codes))
            elif code in (39, 49):
                self.colours.pop(ground, None)
            elif code // 10 in (3, 4) or code // 10 in (9, 10):
                self._set(ground, of + 8 * (code >= 90) if of < 8 else None)

    def _set(self, ground: str, colour: int | None) -> None:
        if colour is not None:
            self.colours[ground] = colour


def plain_text(data: bytes) -> str:
    """Return a line in its final state, without colors."""
    text = ESCAPES.sub("", _decode(data))
    if "\r" in text:
        text = next((part for part in reversed(text.split("\r")) if part), "")
    return CONTROL.sub("", text)


def render_markup(data: bytes, mark: re.Pattern[str] | None = None) -> SafeString:
    """Return a line as HTML with colors, and with matches of ``mark`` highlighted."""
    runs = list(_split_runs(_decode(data)))
    if mark:
        runs = list(_mark_runs(runs, mark))
    return format_html_join("", "{}", ((_render_run(*run),) for run in runs))


def mark_pattern(text: str) -> re.Pattern[str] | None:
    """A pattern that matches ``text`` like the search does, ignoring case."""
    flags = re.IGNORECASE | (re.ASCII if text.isascii() else 0)
    return re.compile(re.escape(text), flags) if text else None


def _decode(data: bytes) -> str:
    return data.decode(errors="replace").rstrip("\r\n")


Run = tuple[str, str, bool]  # text, classes, whether it is highlighted


def _split_runs(text: str) -> list[Run]:
    style = Style()
    runs = list[Run]()
    back = False
    for piece in TOKENS.split(text):
        if piece == "\r":
            back = True
        elif sgr := SGR.fullmatch(piece):
            style.apply(sgr[1])
        elif piece and not ESCAPES.fullmatch(piece):
            runs = [] if back else runs
            runs.append((CONTROL.sub("", piece), style.classes, False))
            back = False
    return runs


def _mark_runs(runs: list[Run], mark: re.Pattern[str]) -> Iterator[Run]:
    """Yield the runs, split where a highlight starts or ends."""
    text = "".join(run[0] for run in runs)
    spans = [match.span() for match in mark.finditer(text) if match[0]]
    ends = list(accumulate((len(run[0]) for run in runs), initial=0))
    cuts = sorted({*ends, *(at for span in spans for at in span)})
    run = 0
    span = 0
    for start, end in pairwise(cuts):
        while ends[run + 1] <= start:
            run += 1
        while span < len(spans) and spans[span][1] <= start:
            span += 1
        yield text[start:end], runs[run][1], span < len(spans) and spans[span][0] <= start


def _render_run(text: str, classes: str, marked: bool) -> str:
    content = format_html("<mark>{}</mark>", text) if marked else text
    return format_html('<span class="{}">{}</span>', classes, content) if classes else content


def _codes(parameters: str) -> Iterator[int]:
    """Yield the numbers of a sequence. Of a number with parts, such as ``4:3``, only the first
    counts, unless it sets a color."""
    for code in parameters.split(";"):
        parts = [int(part[-4:]) for part in code.split(":") if part] or [0]
        yield from parts if parts[0] in (38, 48) else parts[:1]


def _extended_colour(codes: Iterator[int]) -> int | None:
    """Return the nearest basic color to one of 256, or of all colors."""
    kind = next(codes, 0)
    if kind == 2:
        return _nearest_colour([next(codes, 0) for _ in range(3)])
    number = next(codes, 0) if kind == 5 else BASIC**2
    if number < BASIC:
        return number
    if number < 232:
        cube = (number - BASIC) // 36, (number - BASIC) // 6 % 6, (number - BASIC) % 6
        return _nearest_colour(55 + 40 * part if part else 0 for part in cube)
    return _nearest_colour([8 + 10 * (number - 232)] * 3) if number < BASIC**2 else None


def _nearest_colour(colour: Iterable[int]) -> int:
    red, green, blue = colour
    distances = [(r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2 for r, g, b in XTERM]
    return distances.index(min(distances))
