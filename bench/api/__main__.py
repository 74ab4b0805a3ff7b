"""``python -m bench.api [submitting lists watchers terminal]`` measures these parts, or all, and
prints the table."""

import sys

from bench import report, terminal
from bench.api import lists, submitting, watchers
from bench.api.place import place

PARTS = {
    "submitting": submitting.rows,
    "watchers": watchers.rows,
    "terminal": terminal.rows,
    "lists": lists.rows,
}


def main() -> int:
    names = sys.argv[1:] or list(PARTS)
    if unknown := set(names) - set(PARTS):
        print(f"There is no part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}.")
        return 2
    rows = []
    with place() as where:
        for name in names:
            for row in PARTS[name](where):
                print(report.table([row]).splitlines()[-1], flush=True)
                rows.append(row)
    print(report.table(rows))
    if names == list(PARTS):
        report.write(rows, "REST on PostgreSQL")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
