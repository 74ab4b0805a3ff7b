"""Exit codes and reasons in words, and what to do about them."""

import signal

from spec.phases import Reason

CODES = {
    0: "ended well",
    1: "the program ended with an error",
    2: "the program did not understand its arguments",
    126: "the command is not executable",
    127: "the command was not found",
}
SIGNALS = {
    "SIGKILL": "killed, by the system when memory ran out or after the grace period",
    "SIGTERM": "asked to end",
    "SIGSEGV": "crashed: it touched memory that is not its own",
    "SIGABRT": "gave up: a library found a state it cannot go on from",
    "SIGBUS": "crashed: shared memory or a disk ran out",
    "SIGINT": "interrupted",
    "SIGFPE": "crashed: an impossible calculation",
    "SIGILL": "crashed: an instruction that this processor does not have",
}
ADVICE = {
    Reason.COMMAND_NOT_FOUND: "Check the command in the environment and that the image has it, "
    "then Copy & edit.",
    Reason.IMAGE_UNKNOWN: "Choose an environment whose image this cluster knows, or give it a "
    "command of its own, then Copy & edit.",
    Reason.OUT_OF_MEMORY: "Ask for more CPU memory in the compute resource, or make batches or "
    "workers smaller, then Copy & edit.",
    Reason.GRACE_PERIOD_EXCEEDED: "Let the training save and end when it gets SIGTERM, or raise "
    "the grace period.",
    Reason.RANK_FAILED: "Read its last lines, mend the program or its arguments, then Copy & edit. "
    "It starts anew: checkpoints belong to one workload.",
    Reason.PREEMPTED: "Others went first. Give it a higher priority, or a backoff limit so that it "
    "starts again by itself, then Copy & edit.",
    Reason.REFUSED: "Change what the cluster refused, then Copy & edit.",
    Reason.LOST: "Look whether somebody deleted it there, or the cluster was reset. Copy & edit "
    "starts it again.",
}
OTHERWISE = "Read the last lines and the event history, then Copy & edit to try again."


def exit_in_words(code: int | None) -> str:
    """``exit code 1: the program ended with an error``; ``code`` is -N after signal N."""
    if code is None:
        return ""
    number = -code if code < 0 else code - 128
    name = _signal(number) if code < 0 or code > 128 else ""
    if name:
        meaning = SIGNALS.get(name, "ended by a signal")
        return f"{name}: {meaning}" if code < 0 else f"exit code {code} ({name}): {meaning}"
    meaning = CODES.get(code, "an error of the program's own")
    return f"exit code {code}: {meaning}"


def advice(reason: str) -> str:
    try:
        return ADVICE.get(Reason(reason), OTHERWISE)
    except ValueError:
        return OTHERWISE


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if 0 < number < 65 else ""
