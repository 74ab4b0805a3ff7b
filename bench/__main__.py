"""``python -m bench [NAME …]`` runs the benchmarks with these names, or all, and prints the table.

A run of all also replaces the table in docs/benchmarks.md. The exit code is 1 if a limit does not
hold.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import (
    access,
    fit,
    live,
    loop,
    overview,
    report,
    search,
    table,
    terminal,
    training,
    validation,
)
from tests.product import Trainyard

RUNNING = {
    "training": training.rows,
    "live": live.rows,
    "validation": validation.rows,
    "terminal": terminal.rows,
    "search": search.rows,
}
ALONE = {
    "table": table.rows,
    "overview": overview.rows,
    "access": access.rows,
    "trainer": loop.rows,
    "fit": fit.rows,
}  # these need no running Trainyard
NAMES = [*ALONE, *RUNNING]


def measure(names: list[str]) -> Iterator[report.Measurement]:
    """Run benchmarks, and yield their rows. One Trainyard is started for all that need one."""
    for name in ALONE:
        if name in names:
            yield from ALONE[name]()
    wanted = [name for name in RUNNING if name in names]
    if not wanted:
        return
    with tempfile.TemporaryDirectory() as home:
        trainyard = Trainyard(Path(home))
        trainyard.start()
        try:
            for name in wanted:
                yield from RUNNING[name](trainyard)
        finally:
            trainyard.stop()


def main() -> int:
    names = sys.argv[1:] or NAMES
    if unknown := set(names) - set(NAMES):
        print(
            f"There is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}."
        )
        return 2
    rows = []
    for row in measure(names):
        print(report.table([row]).splitlines()[-1], flush=True)
        rows.append(row)
    print(report.table(rows))
    if names == NAMES:
        report.write(rows, "One machine")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
