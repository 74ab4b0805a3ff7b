"""What a small program on the cluster reports: a line each, which begins with what it is about."""

Report = dict[str, list[str]]


def lines(text: str) -> Report:
    """By the first word of each."""
    report: Report = {}
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        report.setdefault(key, []).append(rest.strip())
    return report
