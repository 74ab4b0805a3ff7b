"""What is known about the Python of the ranks, in a file that pages read while it changes."""

import time
from dataclasses import asdict, dataclass
from typing import Self

from engines.local.interpreter.choice import Interpreter
from engines.local.records.layout import Json, read_json, write_json
from engines.preparation import Preparation, PreparationStage

#: Seconds after which a failed preparation is tried again by itself, because a network comes back.
TRY_AGAIN_AFTER = 600.0


@dataclass(frozen=True)
class PreparationRecord:
    """A preparation of one ``python``, as it was ``at`` a time in seconds since 1970."""

    python: str
    at: float
    stage: str
    summary: str = ""
    problem: str = ""
    advice: str = ""
    done: int = 0
    total: int = 0
    speed: float = 0.0

    @classmethod
    def read(cls, interpreter: Interpreter) -> Self | None:
        """Return the record; ``None`` if there is none of this Python."""
        document = read_json(interpreter.record)
        if document is None or document["python"] != str(interpreter.python):
            return None
        return cls(**document)

    @property
    def is_over(self) -> bool:
        return self.stage in {PreparationStage.READY, PreparationStage.FAILED}

    @property
    def is_due_again(self) -> bool:
        """Whether it failed some time ago. The clock may have been set back."""
        return (
            self.stage == PreparationStage.FAILED and abs(time.time() - self.at) > TRY_AGAIN_AFTER
        )

    def preparation(self) -> Preparation:
        values: Json = asdict(self)
        del values["python"], values["at"]
        return Preparation(**values | {"stage": PreparationStage(self.stage)})


def write_record(interpreter: Interpreter, preparation: Preparation) -> None:
    document = asdict(preparation) | {"python": str(interpreter.python), "at": time.time()}
    interpreter.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(interpreter.record, document, scratch=interpreter.home)


def forget_record(interpreter: Interpreter) -> None:
    """Forget how the last preparation ended, so that the next look begins another."""
    interpreter.record.unlink(missing_ok=True)
