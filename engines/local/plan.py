"""What a supervisor is told: everything resolved but the ports, which each attempt picks anew."""

from dataclasses import asdict, dataclass, field

from engines.local.layout import Json
from engines.local.volumes.volume import Volume


@dataclass(frozen=True)
class RankPlan:
    """One process. ``memory_limit`` in bytes, ``cpu_limit`` in cores."""

    rank: int
    role: str
    index: int
    argv: list[str]
    variables: dict[str, str]
    working_dir: str  # empty: a folder of its own
    visible_gpus: list[int]
    gpu_request: float
    cpu_limit: float | None
    memory_limit: int | None
    own_home: bool
    volumes: list[Volume] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


@dataclass(frozen=True)
class GangPlan:
    """One run of a workload. Times are in seconds: ``ran`` is that of earlier runs, which the
    ``time_limit`` counts, too."""

    workload_id: str
    name: str
    project: str
    run: int
    framework: str
    node: str
    backoff_limit: int
    grace: int
    restart_delay: float
    base: dict[str, str]
    ranks: list[RankPlan]
    time_limit: int | None = None
    ran: float = 0.0

    @property
    def has_master(self) -> bool:
        return self.ranks[0].role == "master"

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Json) -> "GangPlan":
        return cls(**{**document, "ranks": [_rank(rank) for rank in document["ranks"]]})


def _rank(document: Json) -> RankPlan:
    volumes = [Volume(**volume) for volume in document.get("volumes", [])]
    return RankPlan(**{**document, "volumes": volumes})
