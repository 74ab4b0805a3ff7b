"""Reports of small programs on the cluster: each line starts with a word that says what it is
about."""

Report = dict[str, list[str]]


def lines(text: str) -> Report:
    """The rest of each line, grouped by first word."""
    report: Report = {}
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        report.setdefault(key, []).append(rest.strip())
    return report
