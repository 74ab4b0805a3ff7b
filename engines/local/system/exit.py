"""Describe the end of a process."""

import signal

SHELL_CODES = {126: "the command could not be executed", 127: "the command was not found"}


def ended(exit_code: int) -> str:
    """``exit_code`` is -N after signal N; a shell reports a signal as 128 + N."""
    if exit_code < 0:
        return f"was ended by {_signal(-exit_code)}"
    if exit_code in SHELL_CODES:
        return f"exited with code {exit_code}: {SHELL_CODES[exit_code]}"
    if 128 < exit_code <= 128 + signal.NSIG and (name := _signal(exit_code - 128)):
        return f"exited with code {exit_code}, as after {name}"
    return f"exited with code {exit_code}"


def size(count: float) -> str:
    """Bytes for people."""
    from spec.values.quantities import (
        format_bytes,  # brings pydantic, too slow to import at every start
    )

    return format_bytes(count)


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
