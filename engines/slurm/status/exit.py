"""Describes how a rank or a job ended."""

import signal

SHELL_CODES = {126: "the command could not be executed", 127: "the command was not found"}
#: The meaning of 0:N for a job that ended before its script could report anything.
LAUNCH = {53: "Slurm could not open its output file or enter its folder"}


def describe_rank_end(code: int) -> str:
    """Describe the end of a rank. A negative ``code`` is a signal."""
    if code < 0:
        return f"was ended by signal {-code}{_signal_name(-code)}"
    if code in SHELL_CODES:
        return f"exited with code {code}: {SHELL_CODES[code]}"
    return f"exited with code {code}"


def describe_job_end(text: str) -> str:
    """Describe the end of a job, from Slurm's ``code:signal``. Empty if that is no failure."""
    head, _, tail = text.partition(":")
    if not (head.isdigit() and tail.isdigit()):
        return ""
    code = int(head)
    number = int(tail)
    if number in LAUNCH and not code:
        return LAUNCH[number]
    if number:
        return f"ended by signal {number}{_signal_name(number)}"
    return f"exit code {code}" if code else ""


def _signal_name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
