"""Errors, with the exit codes that scripts see. ``docs/cli.md`` explains the codes."""

from enum import IntEnum

SIGN_IN = "Sign in: trainyard login"


class ExitCode(IntEnum):
    """What the exit code says about the cause."""

    REFUSED = 1  # the request was refused, or the workload failed
    USAGE = 2
    SIGNED_OUT = 3
    NOT_FOUND = 4
    UNREACHABLE = 5
    INTERRUPTED = 130


class CliError(Exception):
    """An error for the person at the terminal: what happened, and what to do about it.

    ``lines`` are details, such as the wrong fields of a request, and are printed in between.
    """

    def __init__(
        self, message: str, todo: str = "", *, code: int = ExitCode.REFUSED, lines: object = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.todo = todo
        self.code = code
        self.lines: list[str] = [str(line) for line in lines] if isinstance(lines, list) else []

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.message, *self.lines, self.todo)))


def wrong_use(message: str, todo: str = "") -> CliError:
    """Return an error about the command line itself."""
    return CliError(message, todo, code=ExitCode.USAGE)


def reason_of(error: Exception) -> str:
    """Return why a file could not be used, in words and without the number of the error."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
