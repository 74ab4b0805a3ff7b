"""``python -m bench.slurm [submitting watching]`` measures on the cluster that SLURM_TESTBED
starts. Only a run of both parts is recorded on the page."""

import sys

from bench import report
from bench.slurm import submitting, watching
from bench.slurm.place import place
from tests import slurm, slurm_testbed
from tests.slurm_testbed import TOOL, Testbed

PARTS = {"submitting": submitting.rows, "watching": watching.rows}


def main() -> int:
    parts = sys.argv[1:] or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        print(f"There is no {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}.")
        return 2
    if not TOOL.exists():
        print(slurm.HOW, file=sys.stderr)
        return 0
    was_up = Testbed.running() is not None
    if not was_up and (trouble := slurm.start()):
        print(trouble, file=sys.stderr)
        return 1
    try:
        rows: list[report.Measurement] = []
        for name in parts:
            with place() as where:
                rows += PARTS[name](where)
    finally:
        if not was_up:
            slurm_testbed.run("down", "--wipe", check=False)
    print(report.table(rows))
    if parts == list(PARTS):
        report.write(rows, "Slurm")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
