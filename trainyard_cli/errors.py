"""What goes wrong, with the exit code that scripts see. ``docs/cli.md`` lists the codes."""

from enum import IntEnum

SIGN_IN = "Sign in: trainyard login"


class ExitCode(IntEnum):
    REFUSED = 1  # what was asked cannot be done, or the workload failed
    USAGE = 2
    SIGNED_OUT = 3
    NOT_FOUND = 4
    UNREACHABLE = 5
    INTERRUPTED = 130


class CliError(Exception):
    """Told on standard error: what happened, and what to do about it."""

    def __init__(
        self, message: str, todo: str = "", *, code: int = ExitCode.REFUSED, lines: object = ()
    ) -> None:
        super().__init__(message)
        self.message, self.todo, self.code = message, todo, code
        self.lines: list[str] = [str(line) for line in lines] if isinstance(lines, list) else []

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.message, *self.lines, self.todo)))


def wrong_use(message: str, todo: str = "") -> CliError:
    """The command line itself is wrong."""
    return CliError(message, todo, code=ExitCode.USAGE)


def reason_of(error: Exception) -> str:
    """What went wrong with a file, without Python's number for it."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
