"""The definition of a failure class: how to recognize it, who has to fix it, and how."""

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property

from spec.phases import Reason


class Fault(StrEnum):
    """Where the failure has to be fixed."""

    PROGRAM = "program"
    DATA = "data"
    ENVIRONMENT = "environment"
    CLUSTER = "cluster"
    TRAINYARD = "trainyard"

    @property
    def label(self) -> str:
        return "Trainyard" if self is Fault.TRAINYARD else self.value.capitalize()


#: Marks a line as reporting an error. "error rate: 0.2" and "Error: 0.2" are measurements.
ERROR_WORDS = (
    r"Error\b(?!: *\d+\.\d)|Exception\b|ERROR|FATAL|[Ff]atal\b|\b[Ff]ailed\b"
    r"|\berror\b(?! rates?\b|:? *\d)"
)


class Weight(IntEnum):
    """How much a line says about the cause. Lines of a lower weight are ignored if there are
    others."""

    ECHO = 1  # a peer is gone, a library gave up
    SYMPTOM = 2  # something stalled or crashed without saying why
    PLAIN = 3  # an exception that no class is specific to
    CAUSE = 4


@dataclass(frozen=True)
class FailureClass:
    """A class of failures, and how it is recognized.

    In a log: ``says`` are patterns of the decisive line. ``mentions`` are patterns that ordinary
    lines may match too, so they only count in lines that report an error. ``raises`` are names of
    exceptions that suffice alone. ``within`` are patterns that match an exception together with the
    frames before it, where its own text says too little. A line that matches ``gives_way`` has at
    most the weight of a plain exception.

    Without a log: ``signals``, exit ``codes``, and ``reasons`` of the engine whose message matches
    ``remark``.
    """

    id: str
    label: str
    fault: Fault
    sentence: str
    repair: str
    line_patterns: tuple[str, ...] = ()
    error_line_patterns: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    frame_patterns: tuple[str, ...] = ()
    weak_patterns: tuple[str, ...] = ()
    weight: Weight = Weight.CAUSE
    signals: frozenset[int] = frozenset()
    codes: frozenset[int] = frozenset()
    reasons: frozenset[Reason] = frozenset()
    message_pattern: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        raised = [rf"^\W{{0,4}}(?:\w+\.)*(?:{'|'.join(self.exceptions)})\b(?::|\(|\s*$)"]
        of_errors = [rf"^(?=.*(?:{ERROR_WORDS})).*(?:{one})" for one in self.error_line_patterns]
        patterns = [*self.line_patterns, *of_errors, *(raised if self.exceptions else [])]
        return re.compile("|".join(patterns) or r"(?!)", re.MULTILINE)

    def weight_of(self, text: str) -> Weight:
        """The weight of a line of this class."""
        is_weak = any(re.search(one, text) for one in self.weak_patterns)
        return min(self.weight, Weight.PLAIN) if is_weak else self.weight

    def is_within(self, frames: str, text: str) -> bool:
        """Whether an exception with these frames is of this class, although its text alone
        is not."""
        return any(re.search(one, f"{frames}\n{text}") for one in self.frame_patterns)

    def fits_message(self, message: str) -> bool:
        """Whether the engine's message fits this class, so that its reason counts."""
        return re.search(self.message_pattern, message) is not None
