"""Reads signals as Slurm's options write them. Pure."""

import re
import signal
from dataclasses import dataclass

WARNING = re.compile(r"(?:R?(B)?R?:)?([A-Za-z0-9]+)(?:@([0-9]{1,5}))?")
DEFAULT_SECONDS = 60


@dataclass(frozen=True)
class EndWarning:
    """A signal that ``--signal`` asks for some seconds before the time limit: for the script alone,
    or for the tasks of its steps."""

    number: signal.Signals
    seconds: int
    to_script: bool


def parse_signal(name: str) -> signal.Signals | None:
    """Return a signal by its number or name, such as ``USR1`` or ``SIGUSR1``."""
    try:
        if name.isdecimal():
            return signal.Signals(int(name))
        return signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except (KeyError, ValueError):
        return None


def parse_warning(option: str) -> EndWarning | None:
    """Return what ``--signal=[R][B:]SIGNAL[@SECONDS]`` asks for; ``None`` if it cannot be read."""
    match = WARNING.fullmatch(option)
    number = parse_signal(match[2]) if match else None
    if match is None or number is None:
        return None
    return EndWarning(number, int(match[3] or DEFAULT_SECONDS), to_script=bool(match[1]))
