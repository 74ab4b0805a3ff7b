"""Command line of the examples, such as ``python -m trainer.examples xgboost [flags]``."""

import sys
from collections.abc import Sequence
from importlib import import_module

NAMES = ("tensorflow", "xgboost", "jax", "mpi", "horovod")
USAGE = f"usage: python -m trainer.examples {{{','.join(NAMES)}}} [flags]"


def main(argv: Sequence[str]) -> int:
    """Run the example that the first argument names, with the other arguments as its flags."""
    if not argv or argv[0] not in NAMES:
        print(USAGE, file=sys.stderr)
        return 2
    import_module(f"trainer.examples.{argv[0]}").main(argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
