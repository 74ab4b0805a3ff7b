"""How a rank or a job ended, in words."""

import signal

SHELL_CODES = {126: "the command could not be executed", 127: "the command was not found"}
#: The meaning of 0:N for a job that ended before its script could report anything.
LAUNCH = {53: "Slurm could not open its output file or enter its folder"}


def ended(code: int) -> str:
    """The end of a rank in words. A negative ``code`` is a signal."""
    if code < 0:
        return f"was ended by signal {-code}{_name(-code)}"
    if code in SHELL_CODES:
        return f"exited with code {code}: {SHELL_CODES[code]}"
    return f"exited with code {code}"


def of_job(text: str) -> str:
    """The end of a job in words, from Slurm's ``code:signal``. Empty if that reports no failure."""
    head, _, tail = text.partition(":")
    if not (head.isdigit() and tail.isdigit()):
        return ""
    code = int(head)
    number = int(tail)
    if number in LAUNCH and not code:
        return LAUNCH[number]
    if number:
        return f"ended by signal {number}{_name(number)}"
    return f"exit code {code}" if code else ""


def _name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
