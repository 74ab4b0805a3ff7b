"""Starts the host of a rank, or a program for batch scripts: ``program.py FOLDER NAME …``.

It is run by its path, without the packages of any environment, so that what the script does to its
own Python changes nothing here.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from engines.local.batch import commands
from engines.local.batch.host import HOST, run_host
from engines.local.batch.srun import run_srun


def main() -> int:
    _open_closed_streams()
    folder = Path(sys.argv[1])
    name = sys.argv[2]
    words = sys.argv[3:]
    if name == HOST:
        return run_host(folder, int(words[0]))
    if name == "srun":
        return run_srun(folder, words)
    return (commands.FIRST | commands.LAST)[name](folder, words)


def _open_closed_streams() -> None:
    """Open what a script has closed, as in ``srun … <&-``, so that no other file gets its
    number."""
    number = os.open(os.devnull, os.O_RDWR)
    while number < 3:
        os.set_inheritable(number, True)
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)


if __name__ == "__main__":
    sys.exit(main())
