"""Command line of the trainer: ``python -m trainer PROGRAM [flags]``. ``trainer.config.PROGRAMS``
lists the programs."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from trainer import config
from trainer.errors import TrainerError
from trainer.gang import identity, launch
from trainer.record.metrics import say

NAMES = "|".join(config.PROGRAMS)
USAGE = f"usage: python -m trainer {{{NAMES}}} [flags]; --help after the name lists the flags"


def main(argv: Sequence[str]) -> int:
    """Run one training program, or start several ranks of it, and return the exit code.

    Errors are printed to stderr. docs/trainer.md explains each exit code.
    """
    if not argv or argv[0] not in config.PROGRAMS:
        print(USAGE, file=sys.stderr)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    try:
        settings, flag_span, flag_variables = config.parse(argv[0], argv[1:])
        resolved = identity.resolve(flag_span, {**os.environ, **flag_variables})
        if isinstance(resolved, identity.Span):
            arguments = [argv[0], *config.remove_span_flags(argv[1:])]
            return launch.spawn(resolved, launch.trainer_command(arguments))
        say(str(resolved))
        # Imported here because it imports torch, which is slow and which launching does not need.
        from trainer import loop

        return loop.run(settings, resolved)
    except TrainerError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()
        return 1


def exit_now(code: int) -> NoReturn:
    """Exit at once with ``code``, without the interpreter's usual cleanup.

    Gloo's threads may outlive the process group. If they need the interpreter while it shuts down,
    they abort the process, and a training that succeeded ends with code 134.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    exit_now(main(sys.argv[1:]))
