"""``python -m bench [table trainer fit training live validation terminal search]``: measure and
print, or all."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import fit, live, loop, report, search, table, terminal, training, validation
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
    "trainer": loop.rows,
    "fit": fit.rows,
}  # without a Trainyard that runs
NAMES = [*ALONE, *RUNNING]


def measure(names: list[str]) -> Iterator[report.Measurement]:
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
