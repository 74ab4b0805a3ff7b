"""Describe exit codes and reasons in words, and advise what to do about them."""

import signal

from spec.phases import Reason

CODES = {
    0: "succeeded",
    1: "the program ended with an error",
    2: "the program rejected its arguments",
    126: "the command is not executable",
    127: "the command was not found",
}
SIGNALS = {
    "SIGKILL": "killed: out of memory, or still running after the grace period",
    "SIGTERM": "asked to stop",
    "SIGSEGV": "crashed: invalid memory access",
    "SIGABRT": "aborted: a library hit a state it cannot continue from",
    "SIGBUS": "crashed: shared memory or a disk is full",
    "SIGINT": "interrupted",
    "SIGFPE": "crashed: invalid arithmetic operation",
    "SIGILL": "crashed: an instruction this processor does not have",
}
ADVICE = {
    Reason.COMMAND_NOT_FOUND: "Check the command in the environment and that the image has it, "
    "then Copy & edit.",
    Reason.IMAGE_UNKNOWN: "Choose an environment whose image this cluster has, or give it a "
    "command of its own, then Copy & edit.",
    Reason.OUT_OF_MEMORY: "Ask for more CPU memory in the compute resource, or make batches or "
    "workers smaller, then Copy & edit.",
    Reason.GRACE_PERIOD_EXCEEDED: "Let the training save and end when it gets SIGTERM, or raise "
    "the grace period.",
    Reason.RANK_FAILED: "Read its last lines. Run again starts the same definition from its last "
    "checkpoint. If the program or its arguments are wrong, use Copy & edit; the copy starts from "
    "scratch, because checkpoints belong to one workload.",
    Reason.DEADLINE_EXCEEDED: "Run continues it. If its own time limit is used up, it gets as much "
    "time again.",
    Reason.PREEMPTED: "It was preempted. Run again starts it from its last checkpoint. A copy "
    "with a higher priority, or a backoff limit, starts again automatically.",
    Reason.REFUSED: "Change what the cluster refused, then Copy & edit.",
    Reason.LOST: "Check whether someone deleted it there, or the cluster was reset. Run again "
    "starts it from its last checkpoint.",
}
DEFAULT_ADVICE = "Read the last lines and the event history, then use Run again or Copy & edit."


def describe_exit(code: int | None) -> str:
    """Return the exit code in words, such as ``exit code 1: the program ended with an error``.

    A negative ``code`` is the number of the signal that ended the process. The text is empty for
    ``None``.
    """
    if code is None:
        return ""
    number = -code if code < 0 else code - 128
    name = _signal_name(number) if code < 0 or code > 128 else ""
    if name:
        meaning = SIGNALS.get(name, "ended by a signal")
        return f"{name}: {meaning}" if code < 0 else f"exit code {code} ({name}): {meaning}"
    meaning = CODES.get(code, "an error code of the program")
    return f"exit code {code}: {meaning}"


def advice(reason: str) -> str:
    """Return what to do about a failure with this reason."""
    try:
        return ADVICE.get(Reason(reason), DEFAULT_ADVICE)
    except ValueError:
        return DEFAULT_ADVICE


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if 0 < number < 65 else ""
