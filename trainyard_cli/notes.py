"""What goes to standard error besides errors: as much of it as is wanted."""

import sys
from enum import Enum


class LogLevel(str, Enum):
    """The words of Run:ai's first command line, the most talkative first."""

    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


LEVELS = tuple(LogLevel)
_wanted = LogLevel.INFO


def want(level: LogLevel) -> None:
    """From now on print what is of this level, or above."""
    global _wanted
    _wanted = level


def is_wanted(level: LogLevel) -> bool:
    return LEVELS.index(level) >= LEVELS.index(_wanted)


def note(text: str, level: LogLevel = LogLevel.INFO) -> None:
    """A line for people: what was done, or can be done next."""
    if is_wanted(level):
        print(text, file=sys.stderr, flush=True)
