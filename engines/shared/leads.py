"""The end of a gang of named roles, whose lead decides."""

from collections.abc import Sequence


def describe_failures(lead: str, failures: Sequence[str], *, only_lead: bool) -> str:
    """Return a sentence about ranks that failed although the role ``lead`` succeeded; empty if none
    did. Each of ``failures`` names a rank and how it ended."""
    if not failures:
        return ""
    when = f"After the {lead} had succeeded, "
    if only_lead:
        when = f"The {lead} succeeded, and only its status counts: "
    return f"{when}{'; '.join(failures)}."
