"""What may go wrong in a training, each with the exit code that tells the launcher."""

PREEMPTED = 143  # what a shell says of a process ended by SIGTERM: saved, safe to start again


class TrainerError(Exception):
    """The training cannot go on; the message says why and what to do."""

    exit_code = 1


class Stopped(TrainerError):
    """A signal asked to stop before there was anything to save."""

    exit_code = PREEMPTED


class UsageError(TrainerError):
    """Flags or environment that contradict themselves or this machine."""

    exit_code = 2


class DataError(TrainerError):
    """The data set is missing or damaged."""

    exit_code = 10


class RendezvousError(TrainerError):
    """The ranks did not find each other in time."""

    exit_code = 11


class PeerLost(TrainerError):
    """Another rank went away in the middle of the training."""

    exit_code = 12


class Diverged(TrainerError):
    """The loss is no longer a finite number."""

    exit_code = 13


class OutOfMemory(TrainerError):
    """The device or the machine has no memory left."""

    exit_code = 14
