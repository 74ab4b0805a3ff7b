"""Notes for people, on standard error."""

import sys
from enum import Enum


class LogLevel(str, Enum):
    """Levels, with the names of Run:ai's first command line, from the most notes to the fewest."""

    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


LEVELS = tuple(LogLevel)
_wanted = LogLevel.INFO


def set_wanted_notes(level: LogLevel) -> None:
    """Print notes of this level and above from now on."""
    global _wanted
    _wanted = level


def is_wanted(level: LogLevel) -> bool:
    """Whether notes of this level are printed."""
    return LEVELS.index(level) >= LEVELS.index(_wanted)


def print_note(text: str, level: LogLevel = LogLevel.INFO) -> None:
    """Print a line for people, such as what was done or what they can do next."""
    if is_wanted(level):
        print(text, file=sys.stderr, flush=True)
