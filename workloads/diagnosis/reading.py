"""Read the last lines of a log as a person would: which process printed each line, what belongs to
a traceback, and what is only a warning, a retry, or a launcher that repeats that a child failed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

LONGEST = 2000  # characters of a line that are examined
DEEPEST = 16  # lines kept of the innermost frames
#: The process that printed a line, where a launcher writes several ranks into one log.
SOURCE = re.compile(
    r"^(?:\[(?:rank|default)?\d+\]:\s?|\[\d+,\d+\]<std\w+>:\s?|\(\w+ pid=\d+[^)]*\)\s?|\d{1,3}: )"
)
CALM = re.compile(
    r"(?:^|\[|\]:)\s?[WI]\d{4}\b|: [WID] [\w/]|Warning:"
    r"|^.{0,60}?\b(?:(?<!NCCL )WARN(?:ING)?|[Ww]arning|INFO|DEBUG|NOTE|NOTICE)\b"
)
HANDLED = re.compile(
    r"\b(?:retry(?:ing)?\b(?! limit)|will retry|re-?trying|fall(?:ing|s)? ?back"
    r"|(?<!\)\) - )skipp(?:ing|ed)|ignor(?:ing|ed)"
    r"|continuing|recovered|reconnecting|using .* instead|trying (?:again|next|another|port"
    r"|with))\b"
    r"|^(?!.*(?:error|exception|fatal)\b).*[,;.(] *(?:so )?(?:using|building|creating|generating"
    r"|downloading|computing|imputing|starting|training|running)(?: |$)"
    # Advice for a case that has not happened.
    r"|^\W{0,3}(?:(?:hint|tip)\W{1,3})?(?:to (?:avoid|prevent)|in case of|if you|when you)\b"
    r"|\bhandlers? (?:for|installed|registered)\b|\benabled for SIG"
    # A counter at zero, or an option that is off.
    r"|^(?!.*(?:error|exception|fatal)\b).*(?<!rank|code)(?<!device)[\"']?[:=] *"
    r"(?:0|no|none|off|false|never)\W{0,3}$",
    re.IGNORECASE,
)
#: Lines that only a training in progress prints.
PROGRESS = re.compile(
    r'^\s*\{.*"step":|\b(?:step|epoch|iter(?:ation)?|batch)\b\W{0,3}\d|\d%\|', re.IGNORECASE
)
#: A name and a number, as trainings print them.
MEASURE = re.compile(r"^[A-Za-z][\w/ -]{0,40}[:=] *[-+]?\d[\d./%e+-]*\b")
#: The end of a traceback. With a number after the name it is another process's measurement.
RAISED = re.compile(
    r"^(?:(?:[A-Za-z_]\w*\.)+\w+|_?[A-Z]\w*)(?:: (?![-+]?\d[\d./%e+-]*(?:\W|$))|\s*$)"
    r"|^(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception): "
)
BEGINS = re.compile(r"^\W*(?:Original )?(?:Exception Group )?Traceback \(most recent call last\)")
FRAME = re.compile(r'^\s+File ".*", line \d+')
CHAINED = re.compile(r"^(?:During handling of|The above exception was)|^Original Traceback")
#: Exceptions while the program ended, and of a child process that never got its work.
ASIDE = re.compile(
    r"^(?:Exception ignored (?:in|on)|Error in (?:atexit|sys\.excepthook))"
    r"|^\s+self = reduction\.pickle\.load\(from_parent\)"
)
#: Prefix of lines in an exception group, in a box that was drawn on the terminal, or in a traceback
#: of which a logger printed each line by itself.
FRAMED = re.compile(
    r"^ +(?:\| ?)+|^[\u2502\u2503] ?"
    r"|^(?:ERROR|CRITICAL) [\d:., /T-]+\[[\w./:-]+\] (?=Traceback | |[\w.]+(?:Error|Exception)\b)"
)
#: The head of a traceback of a thread beside the main one.
THREAD = re.compile(r"^Exception in thread \S")
#: Exceptions that only report that a child process failed.
WRAPPED = re.compile(
    r"^(?:\w+\.)*(?:ChildFailedError|CalledProcessError|ProcessRaisedException"
    r"|ProcessExitedException"
    r"|RayTaskError\S*|SignalException|SystemExit|(?:Base)?ExceptionGroup)\b"
    r"|.*\b[Ss]ee (?:the )?root cause above"
)


@dataclass(frozen=True)
class CandidateLine:
    """A line that may be the cause. ``number`` is its index in what was read, ``source`` the prefix
    of its process. ``block`` numbers the traceback that it ends, or is -1; ``frames`` are the
    innermost frames of that traceback, and ``in_thread`` tells whether it is one of a thread beside
    the main one."""

    number: int
    source: str
    text: str
    block: int = -1
    frames: str = ""
    in_thread: bool = False


@dataclass
class _SourceState:
    """How far the output of one process has been read."""

    block: int = -1
    in_traceback: bool = False
    is_chained: bool = False
    is_aside: bool = False
    after_thread_head: bool = False
    frames: tuple[str, ...] = ()


def candidate_lines(lines: Sequence[str]) -> Iterator[CandidateLine]:
    """Yield the lines that may be the cause: no frames of tracebacks, and no lines that are not a
    reason to fail."""
    sources: dict[str, _SourceState] = {}
    blocks = count()
    for number, line in enumerate(line[:LONGEST] for line in lines):
        prefix = SOURCE.match(line)
        name = prefix[0].strip() if prefix else ""
        text = line[len(prefix[0]) if prefix else 0 :]
        text = FRAMED.sub("", text).rstrip("\u2502\u2503 ")
        state = sources.setdefault(name, _SourceState())
        if _take_traceback_line(state, text, blocks):
            state.frames = (*state.frames, text)[-DEEPEST:]
        elif not _is_of_other_rank(state, text):
            block, was_aside = (state.block, state.is_aside) if state.in_traceback else (-1, False)
            frames = "\n".join(state.frames)
            state.frames = ()
            in_thread = state.after_thread_head and block >= 0
            state.after_thread_head = bool(THREAD.match(text))
            state.in_traceback = False
            state.is_aside = False
            if not was_aside and _may_be_cause(line, text, is_raised=block >= 0):
                if block < 0:
                    frames = ""
                yield CandidateLine(number, name, text, block, frames, in_thread)


def _take_traceback_line(state: _SourceState, text: str, blocks: Iterator[int]) -> bool:
    """Update ``state`` with a line. Return whether it is the head or a frame of a traceback; the
    last line of one, with the exception, is not."""
    if BEGINS.match(text) or (not state.in_traceback and FRAME.match(text)):
        if state.block < 0 or not (state.is_chained or CHAINED.match(text)):
            state.block = next(blocks)
        state.in_traceback = True
        state.is_chained = False
    elif CHAINED.match(text):
        state.is_chained = True
    elif ASIDE.match(text):
        state.is_aside = True
    else:
        return state.in_traceback and (not text.strip() or text[0] in " \t|+")
    return True


def _is_of_other_rank(state: _SourceState, text: str) -> bool:
    """Whether the line is of another, running rank, and only happens to be inside a traceback."""
    is_measure = PROGRESS.match(text) or MEASURE.match(text)
    return state.in_traceback and is_measure is not None and not RAISED.match(text)


def _may_be_cause(line: str, text: str, *, is_raised: bool) -> bool:
    """Whether a line may be the cause. The end of a traceback may be, even if its message sounds as
    if the program continued."""
    is_calm = CALM.search(line) or (not is_raised and HANDLED.search(text))
    return bool(text.strip()) and not (WRAPPED.match(text) or is_calm)


def progress_lines(lines: Sequence[str]) -> list[int]:
    """Indexes of the lines that only a training in progress prints."""
    return [number for number, line in enumerate(lines) if PROGRESS.search(line[:LONGEST])]
