"""Makes the name of a workload from the name of a job or a file. Pure."""

import re
import unicodedata


def derive_name(text: str, *, longest: int) -> str:
    """Return a valid name, such as ``run-7b`` for ``7B_run``; empty if nothing in the text can be
    part of one. Letters come first, and a name that is too long loses its end."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    parts = [part for part in re.split(r"[^a-z0-9]+", plain) if part]
    first = next((at for at, part in enumerate(parts) if part[0].isalpha()), None)
    if first is None:
        parts = ["job", *parts] if parts else []
    else:
        parts = [*parts[first:], *parts[:first]]
    return "-".join(parts)[:longest].rstrip("-")


def numbered_name(name: str, number: int, *, longest: int) -> str:
    """Return the name with a number at its end."""
    suffix = f"-{number}"
    return name[: longest - len(suffix)].rstrip("-") + suffix
