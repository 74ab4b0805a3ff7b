"""The state of a run, as written for observers."""

from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from engines.local.records.layout import Folder, Json, read_json, write_json
from engines.local.records.plan import GangPlan
from spec.phases import ENDED, Phase, RankPhase, Reason
from spec.workload import Role


def monotonic_now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass
class RankRecord:
    """The state of a rank. ``pid`` and ``started`` (``engines.shared.starts``) identify its
    process. ``ports`` maps the ports of its tools to those on this machine."""

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
    """The state of a run. Once there is a supervisor, only the supervisor writes it.

    ``ran`` is how many seconds its finished attempts ran; ``unfetched`` is why the last attempt
    did not get its data. A batch script may start more ranks than the ``requested_ranks``.
    """

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
    requested_ranks: int = 0

    @classmethod
    def from_plan(cls, plan: GangPlan) -> "Record":
        ranks = [RankRecord(rank.rank, rank.role, rank.index) for rank in plan.ranks]
        return cls(plan.workload_id, plan.run, plan.node, ranks=ranks, requested_ranks=len(ranks))

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
        """Read the state of a workload; ``None`` if there is none, or it cannot be parsed."""
        document = read_json(folder.state)
        if document is None:
            return None
        with suppress(KeyError, TypeError, ValueError):
            return cls.from_json(document)
        return None

    @property
    def is_final(self) -> bool:
        return self.phase in ENDED

    def write(self, folder: Folder) -> None:
        write_json(folder.state, asdict(self), scratch=folder.path, durable=self.is_final)

    def move(self, folder: Folder, phase: Phase, reason: Reason, message: str) -> None:
        """Write the next state; it is on disk when this returns."""
        self.phase = phase
        self.reason = reason
        self.message = message
        self.save(folder)

    def save(self, folder: Folder) -> None:
        self.advance()
        self.write(folder)

    def advance(self) -> None:
        """Mark this as a later state. Observers ignore a state with a smaller sequence."""
        self.sequence += 1
        self.at = monotonic_now()

    def begin_attempt(self, attempt: int) -> None:
        """Begin an attempt: every rank that was requested is pending again."""
        self.attempt = attempt
        self.ranks = [
            replace(RankRecord(rank.rank, rank.role, rank.index), restarts=attempt)
            for rank in self.ranks[: self.requested_ranks]
        ]

    def add_rank(self) -> None:
        """Add a rank that a batch script started beyond those that were requested."""
        last = self.ranks[-1]
        index = last.index + 1 if last.role == Role.WORKER else 0
        self.ranks.append(
            RankRecord(
                len(self.ranks),
                Role.WORKER,
                index,
                RankPhase.RUNNING,
                restarts=self.attempt,
                started_at=monotonic_now(),
            )
        )
