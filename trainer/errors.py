"""Errors that end a training. Each has the exit code that reports it to the launcher."""

PREEMPTED = 143  # 128 + SIGTERM, as shells count: it was saved and can start again


class TrainerError(Exception):
    """Base class of the errors that end a training; the message says why, and what to do."""

    exit_code = 1


class Stopped(TrainerError):
    """A signal arrived before the first step, so there is nothing to save."""

    exit_code = PREEMPTED


class UsageError(TrainerError):
    """Flags or environment variables contradict each other, or this machine."""

    exit_code = 2


class DataError(TrainerError):
    """The dataset is missing or damaged."""

    exit_code = 10


class RendezvousError(TrainerError):
    """The ranks did not find each other in time."""

    exit_code = 11


class PeerLost(TrainerError):
    """The connection to another rank broke during the training."""

    exit_code = 12


class Diverged(TrainerError):
    """The loss is no longer a finite number."""

    exit_code = 13


class OutOfMemory(TrainerError):
    """The device or the machine has no memory left."""

    exit_code = 14
