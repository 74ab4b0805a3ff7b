"""How a rank or a job ended, for people."""

import signal

SHELL_CODES = {126: "the command could not be executed", 127: "the command was not found"}
#: By 0:N, where a job ended before its script could say anything.
LAUNCH = {53: "Slurm could not open its output file or enter its folder"}


def ended(code: int) -> str:
    if code < 0:
        return f"was ended by signal {-code}{_name(-code)}"
    if code in SHELL_CODES:
        return f"exited with code {code}: {SHELL_CODES[code]}"
    return f"exited with code {code}"


def of_job(text: str) -> str:
    """``code:signal``, as Slurm writes it; empty where that says nothing."""
    head, _, tail = text.partition(":")
    if not (head.isdigit() and tail.isdigit()):
        return ""
    code, number = int(head), int(tail)
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
