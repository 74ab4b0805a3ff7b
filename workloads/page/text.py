"""Output as a page shows it: text without what only a terminal understands."""

import re

# Colours and cursor moves, titles, and control characters other than the tab.
TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def shown(data: bytes) -> str:
    """A line as it looks at last: a progress bar's final state, no colours."""
    text = data.decode(errors="replace").rstrip("\r\n")
    text = TERMINAL.sub("", text)
    if "\r" in text:
        text = next((part for part in reversed(text.split("\r")) if part), "")
    return CONTROL.sub("", text)
