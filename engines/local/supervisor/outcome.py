"""How an attempt of a gang ended."""

from dataclasses import dataclass

from spec.phases import Phase, Reason


@dataclass(frozen=True)
class Outcome:
    """``retry``: the backoff limit decides whether there is another attempt."""

    phase: Phase
    reason: Reason = Reason.NONE
    message: str = ""
    retry: bool = False
