"""``python -m bench.slurm``, on the cluster that the program SLURM_TESTBED starts."""

import sys

from bench import report
from bench.slurm import submitting, watching
from bench.slurm.place import place
from tests import slurm, slurm_testbed
from tests.slurm_testbed import TOOL, Testbed


def main() -> int:
    if not TOOL.exists():
        print(slurm.HOW, file=sys.stderr)
        return 0
    was_up = Testbed.running() is not None
    if not was_up and (trouble := slurm.start()):
        print(trouble, file=sys.stderr)
        return 1
    try:
        with place() as where:
            few = watching.few(where)
            rows = [*submitting.rows(where), *watching.rows(where, few)]
    finally:
        if not was_up:
            slurm_testbed.run("down", "--wipe", check=False)
    print(report.table(rows))
    report.write(rows, "Slurm")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
