"""Entry point of ``python -m trainyard_cli`` and of the program ``trainyard``."""

import sys

from trainyard_cli.app import main


def script() -> None:
    """Run the command line of this process, and exit with its code."""
    sys.exit(main())


if __name__ == "__main__":
    script()
