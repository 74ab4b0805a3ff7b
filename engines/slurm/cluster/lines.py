"""Parses reports of small programs on the cluster. The first word of each line names its
subject."""

Report = dict[str, list[str]]


def group_lines(text: str) -> Report:
    """Return the rest of each line, grouped by its first word."""
    report: Report = {}
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        report.setdefault(key, []).append(rest.strip())
    return report
