"""``python -m trainyard_cli``, and the program ``trainyard``."""

import sys

from trainyard_cli.app import main


def script() -> None:
    sys.exit(main())


if __name__ == "__main__":
    script()
