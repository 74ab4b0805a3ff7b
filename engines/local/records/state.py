"""The state of a run, as written for observers."""

from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from engines.local.records.layout import Folder, Json, read_json, write_json
from engines.local.records.plan import GangPlan
from spec.phases import ENDED, Phase, RankPhase, Reason


def monotonic_now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass
class RankRecord:
    """A rank. ``pid`` and ``started`` (``engines.shared.starts``) identify its process. ``ports``
    maps its tools' ports to those on this machine."""

    rank: int
    role: str
    index: int
    phase: RankPhase = RankPhase.PENDING
    restarts: int = 0
    exit_code: int | None = None
    reason: Reason = Reason.NONE
    message: str = ""
    started_at: str | None = None
    finished_at: str | None = None
    pid: int = 0
    started: str = ""
    ports: dict[str, int] = field(default_factory=dict)


@dataclass
class Record:
    """A run. Once there is a supervisor only that writes it. ``ran`` are seconds of its finished
    attempts; ``unfetched`` is why the last attempt did not get its data."""

    workload_id: str
    run: int
    node: str
    sequence: int = 0
    phase: Phase = Phase.INITIALIZING
    at: str = field(default_factory=monotonic_now)
    attempt: int = 0
    reason: Reason = Reason.NONE
    message: str = ""
    ranks: list[RankRecord] = field(default_factory=list)
    ran: float = 0.0
    unfetched: str = ""

    @classmethod
    def of(cls, plan: GangPlan) -> "Record":
        ranks = [RankRecord(rank.rank, rank.role, rank.index) for rank in plan.ranks]
        return cls(plan.workload_id, plan.run, plan.node, ranks=ranks)

    @classmethod
    def from_json(cls, document: Json) -> "Record":
        ranks = [
            RankRecord(
                **{
                    **rank,
                    "phase": RankPhase(rank["phase"]),
                    "reason": Reason(rank["reason"]),
                }
            )
            for rank in document["ranks"]
        ]
        phase = Phase(document["phase"])
        reason = Reason(document["reason"])
        return cls(**{**document, "phase": phase, "reason": reason, "ranks": ranks})

    @classmethod
    def read(cls, folder: Folder) -> "Record | None":
        """Read the state; ``None`` if there is none, or it is not one."""
        document = read_json(folder.state)
        with suppress(KeyError, TypeError, ValueError):
            return None if document is None else cls.from_json(document)
        return None

    @property
    def is_final(self) -> bool:
        return self.phase in ENDED

    def write(self, folder: Folder) -> None:
        write_json(folder.state, asdict(self), scratch=folder.path, forever=self.is_final)

    def move(self, folder: Folder, phase: Phase, reason: Reason, message: str) -> None:
        """Write the next state; it is on disk when this returns."""
        self.phase = phase
        self.reason = reason
        self.message = message
        self.changed(folder)

    def changed(self, folder: Folder) -> None:
        self.touch()
        self.write(folder)

    def touch(self) -> None:
        """Mark this as a later state."""
        self.sequence = self.sequence + 1
        self.at = monotonic_now()

    def begin(self, attempt: int) -> None:
        """Begin an attempt: every rank waits to be started."""
        self.attempt = attempt
        self.ranks = [
            replace(RankRecord(rank.rank, rank.role, rank.index), restarts=attempt)
            for rank in self.ranks
        ]
