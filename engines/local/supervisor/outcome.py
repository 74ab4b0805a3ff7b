"""How an attempt of a gang ended."""

from dataclasses import dataclass

from spec.phases import Phase, Reason


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended. With ``retry``, the backoff limit decides whether another one
    follows."""

    phase: Phase
    reason: Reason = Reason.NONE
    message: str = ""
    retry: bool = False
