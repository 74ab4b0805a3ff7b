"""What a class of failures is: how its line looks, whose fault it is, and what repairs it."""

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property

from spec.phases import Reason


class Fault(StrEnum):
    """Where the repair has to be made."""

    PROGRAM = "program"
    DATA = "data"
    ENVIRONMENT = "environment"
    CLUSTER = "cluster"
    TRAINYARD = "trainyard"

    @property
    def label(self) -> str:
        return "Trainyard" if self is Fault.TRAINYARD else self.value.capitalize()


#: What makes a line one that tells of an error: "error rate: 0.2" and "Error: 0.2" are measures.
AN_ERROR = (
    r"Error\b(?!: *\d+\.\d)|Exception\b|ERROR|FATAL|[Ff]atal\b|\b[Ff]ailed\b"
    r"|\berror\b(?! rates?\b|:? *\d)"
)


class Weight(IntEnum):
    """How much a line says of the cause. What only repeats that something else failed gives way."""

    ECHO = 1  # a peer is gone, a library gave up
    SYMPTOM = 2  # something stalled or crashed, and does not say why
    PLAIN = 3  # an exception, and no more is known of it
    CAUSE = 4


@dataclass(frozen=True)
class FailureClass:
    """``says`` are patterns of the decisive line; ``mentions`` are those that an ordinary line may
    hold as well, so that they count only where the line tells of an error; ``raises`` names
    exceptions that are enough by themselves. ``within`` are patterns of an exception that says too
    little together with the frames before it; ``gives_way`` of lines that count only where no other
    cause is told. ``signals``, exit ``codes`` and ``reasons`` (with a
    ``remark`` in the engine's words) speak for ranks that printed nothing of it."""

    id: str
    label: str
    fault: Fault
    sentence: str
    repair: str
    says: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    raises: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    gives_way: tuple[str, ...] = ()
    weight: Weight = Weight.CAUSE
    signals: frozenset[int] = frozenset()
    codes: frozenset[int] = frozenset()
    reasons: frozenset[Reason] = frozenset()
    remark: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        raised = [rf"^\W{{0,4}}(?:\w+\.)*(?:{'|'.join(self.raises)})\b(?::|\(|\s*$)"]
        of_errors = [rf"^(?=.*(?:{AN_ERROR})).*(?:{one})" for one in self.mentions]
        patterns = [*self.says, *of_errors, *(raised if self.raises else [])]
        return re.compile("|".join(patterns) or r"(?!)", re.MULTILINE)

    def weight_of(self, text: str) -> Weight:
        is_weak = any(re.search(one, text) for one in self.gives_way)
        return min(self.weight, Weight.PLAIN) if is_weak else self.weight

    def is_within(self, frames: str, text: str) -> bool:
        return any(re.search(one, f"{frames}\n{text}") for one in self.within)

    def says_so(self, message: str) -> bool:
        """Whether the engine's words do not speak against it."""
        return re.search(self.remark, message) is not None
