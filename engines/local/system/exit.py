"""Describe the end of a process."""

import signal

SHELL_CODES = {126: "the command could not be executed", 127: "the command was not found"}


def describe_exit(exit_code: int) -> str:
    """Return in words how a process ended. ``exit_code`` is -N after signal N; a shell reports a
    signal as 128 + N."""
    if exit_code < 0:
        return f"was ended by {_signal_name(-exit_code)}"
    if exit_code in SHELL_CODES:
        return f"exited with code {exit_code}: {SHELL_CODES[exit_code]}"
    if 128 < exit_code <= 128 + signal.NSIG and (name := _signal_name(exit_code - 128)):
        return f"exited with code {exit_code}, as after {name}"
    return f"exited with code {exit_code}"


def format_size(count: float) -> str:
    """Return a number of bytes as text, such as ``1.5 GiB``."""
    # Imported here because it imports pydantic, which would slow down every supervisor's start.
    from spec.values.quantities import format_bytes

    return format_bytes(count)


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
