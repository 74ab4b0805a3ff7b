"""Starts the host of a rank, or a program for batch scripts: ``program.py FOLDER NAME …``.

It is run by its path, without the packages of any environment, so that what the script does to its
own Python changes nothing here.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from engines.local.batch import commands
from engines.local.batch.host import HOST, run_host
from engines.local.batch.srun import run_srun


def main() -> int:
    folder = Path(sys.argv[1])
    name = sys.argv[2]
    words = sys.argv[3:]
    if name == HOST:
        return run_host(folder, int(words[0]))
    if name == "srun":
        return run_srun(folder, words)
    return (commands.FIRST | commands.LAST)[name](folder, words)


if __name__ == "__main__":
    sys.exit(main())
